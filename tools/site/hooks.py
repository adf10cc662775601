# SPDX-License-Identifier: MIT
"""What mkdocs calls while it builds the site."""
import re


def github_slug(text, separator):
    """A heading's anchor as GitHub makes it: the links of the pages are written for GitHub."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def on_config(config):
    config["mdx_configs"]["toc"] = {"slugify": github_slug}
    return config
