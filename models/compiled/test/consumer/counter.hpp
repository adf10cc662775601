// SPDX-License-Identifier: MIT
#pragma once

void count_once();
int count_of_all();
