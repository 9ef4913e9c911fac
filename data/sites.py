"""Sites that are installed with their themes: where each lies and what of a page is content."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Site:
    """One site.

    name: of the site; package: Debian's, bookworm. theme: generator and look; two sites of one
    theme have the same frame around their pages. folder: of its pages, below `/usr/share`.
    main: CSS selector of what holds the content. drop: selectors of what in there is none.
    """

    name: str
    package: str
    theme: str
    folder: str
    main: str
    drop: tuple[str, ...] = ()


# What themes need of other packages: their pages link to it.
SHARED = (
    "fonts-font-awesome",
    "fonts-lato",
    "fonts-roboto-slab",
    "libjs-bootstrap",
    "libjs-bootstrap4",
    "libjs-highlight.js",
    "libjs-jquery",
    "libjs-jquery-ui",
    "libjs-modernizr",
    "libjs-popper.js",
    "libjs-sphinxdoc",
    "libjs-underscore",
    "sphinx-rtd-theme-common",
)

_SPHINX = ("a.headerlink", "a.viewcode-link", "nav.contents", ".contents.topic", ".contents.local")
_BODY = "div.body[role=main]"
_DOXYGEN = (".ttc", "a.anchor", ".navpath", ".permalink", "#nav-path", "tr.inherit", ".lineno")
_JAVADOC = (".sub-title", "a.anchor-link", "button", "#navbar-top", ".toc")
_DOCBOOK = (".navheader", ".navfooter", "table.navigation", ".toc")
_TEXINFO = (".header", ".nav-panel", "a.copiable-anchor", "a.copiable-link")
_PAGER = (".prev-next-area", ".prev-next-bottom", "a.edit-this-page", ".header-article")

SITES = (
    Site("ipython", "python-ipython-doc", "sphinx rtd", "doc/python-ipython-doc/html",
         "div[role=main]", _SPHINX),
    Site("tornado", "python-tornado-doc", "sphinx rtd", "doc/python-tornado-doc/html",
         "div[role=main]", _SPHINX),
    Site("kitty", "kitty-doc", "sphinx furo", "doc/kitty/html", "article[role=main]", _SPHINX),
    Site("sympy", "python-sympy-doc", "sphinx furo", "doc/python-sympy-doc/html",
         "article[role=main]", _SPHINX),
    Site("pandas", "python-pandas-doc", "sphinx pydata", "doc/python-pandas-doc/html",
         "main", (*_SPHINX, *_PAGER)),
    Site("groonga", "groonga-doc", "sphinx pydata", "doc/groonga-doc/en/html",
         "main", (*_SPHINX, *_PAGER)),
    Site("dask", "python-dask-doc", "sphinx book", "doc/python-dask-doc/html",
         "#main-content", (*_SPHINX, *_PAGER, ".bd-toc")),
    Site("sklearn", "python-sklearn-doc", "sphinx sklearn", "doc/python-sklearn-doc/html",
         ".sk-page-content[role=main]", _SPHINX),
    Site("astropy", "python-astropy-doc", "sphinx astropy", "doc/python-astropy-doc/html",
         _BODY, _SPHINX),
    Site("aiohttp", "python-aiohttp-doc", "sphinx alabaster", "doc/python-aiohttp-doc/html",
         _BODY, _SPHINX),
    Site("beets", "beets-doc", "sphinx alabaster", "doc/beets/html", _BODY, _SPHINX),
    Site("jinja", "python-jinja2-doc", "sphinx pallets", "doc/python-jinja2-doc/html",
         _BODY, _SPHINX),
    Site("werkzeug", "python-werkzeug-doc", "sphinx pallets", "doc/python-werkzeug-doc/html",
         _BODY, _SPHINX),
    Site("babel", "python-babel-doc", "sphinx babel", "doc/python-babel-doc/html", _BODY, _SPHINX),
    Site("lemonldap", "lemonldap-ng-doc", "sphinx bootstrap",
         "doc/lemonldap-ng/pages/documentation/current", ".body[role=main]", _SPHINX),
    Site("behave", "python-behave-doc", "sphinx bootstrap", "doc/python-behave-doc/html",
         ".body[role=main]", _SPHINX),
    Site("celery", "python-celery-doc", "sphinx celery", "doc/python-celery-doc/html",
         _BODY, (*_SPHINX, ".deck")),
    Site("krb5", "krb5-doc", "sphinx agogo", "doc/krb5-doc", _BODY, _SPHINX),
    Site("clang", "clang-15-doc", "sphinx haiku", "doc/clang-15/html",
         "div.content[role=main]", _SPHINX),
    Site("stem", "python3-stem-doc", "sphinx haiku", "doc/python3-stem/html",
         "div.content", _SPHINX),
    Site("vmm", "vmm-doc", "sphinx pyramid", "doc/vmm/html", _BODY, _SPHINX),
    Site("pyramid", "python-pyramid-jinja2-doc", "sphinx pylons",
         "doc/python-pyramid-jinja2-doc/_build/html", _BODY, _SPHINX),
    Site("pygments", "python-pygments-doc", "sphinx pygments", "doc/python-pygments-doc/html",
         _BODY, _SPHINX),
    Site("sphinx", "sphinx-doc", "sphinx sphinx13", "doc/sphinx-doc/html", _BODY, _SPHINX),
    Site("psycopg", "python-psycopg2-doc", "sphinx classic", "doc/python-psycopg2-doc/html",
         _BODY, _SPHINX),
    Site("twig", "php-twig-doc", "sphinx classic", "doc/php-twig/manual", _BODY, _SPHINX),
    Site("rsyslog", "rsyslog-doc", "sphinx classic", "doc/rsyslog-doc/html", _BODY, _SPHINX),
    Site("statsmodels", "python-statsmodels-doc", "sphinx nature",
         "doc/python-statsmodels-doc/html", _BODY, _SPHINX),
    Site("devref", "developers-reference", "sphinx nature", "doc/developers-reference/docs",
         _BODY, _SPHINX),
    Site("knot", "knot-doc", "sphinx knot", "doc/knot-doc", _BODY, _SPHINX),
    Site("docutils", "docutils-doc", "docutils", "doc/docutils-doc/docs", "div.document",
         ("div.contents.topic",)),
    Site("twisted", "twisted-doc", "pydoctor", "doc/twisted-doc/html/api", "#main",
         (".functionHeader .headerLink", "#showPrivate", ".private")),
    Site("openjdk", "openjdk-17-doc", "javadoc 17", "doc/openjdk-17-doc/api", "main", _JAVADOC),
    Site("jython", "jython-doc", "javadoc 17", "doc/jython-doc/html/javadoc", "main", _JAVADOC),
    Site("checkstyle", "checkstyle-doc", "javadoc 11", "doc/checkstyle-doc/api", "main", _JAVADOC),
    Site("weka", "weka-doc", "javadoc 11", "doc/weka-doc/doc", "main", _JAVADOC),
    Site("groovy", "groovy-doc", "groovydoc", "doc/groovy/gapi", ".header, .contentContainer",
         (".subNav", ".topNav", ".bottomNav")),
    Site("asciidoctor", "asciidoctor-doc", "rdoc", "doc/asciidoctor-doc/html", "main",
         (".method-source-code", ".method-click-advice")),
    Site("yard", "yard-doc", "yard", "doc/yard/doc", "#content",
         ("#toc", ".summary_toggle", ".inheritanceTree", ".source_code", ".showSource")),
    Site("crystal", "crystal-doc", "crystal docs", "doc/crystal/api-docs", ".main-content",
         (".tooltip > span",)),
    Site("nim", "nim-doc", "nimdoc", "doc/nim/html", "h1.title, #content",
         ("a.link-seesrc", ".pragmawrap")),
    Site("aeson", "libghc-aeson-doc", "haddock", "doc/libghc-aeson-doc/html", "#content",
         ("#table-of-contents", "a.link", "a.selflink", ".hide-when-js-enabled")),
    Site("batteries", "libbatteries-ocaml-doc", "ocamldoc", "doc/libbatteries-ocaml-doc/html/api",
         "body", (".navbar",)),
    Site("adwaita", "libadwaita-1-doc", "gi-docgen", "doc/libadwaita-1", "#main",
         ("#search", "a.srclink", "a.anchor")),
    Site("gtk3", "libgtk-3-doc", "gtk-doc", "doc/libgtk-3-doc/gtk3",
         "div.refentry, div.section, div.chapter", _DOCBOOK),
    Site("cairo", "libcairo2-doc", "gtk-doc", "doc/libcairo2-doc/html",
         "div.refentry, div.section, div.chapter", _DOCBOOK),
    Site("sdl", "libsdl2-doc", "doxygen tree", "doc/libsdl2-doc/html",
         ".header .title, .contents", _DOXYGEN),
    Site("fltk", "fltk1.3-doc", "doxygen tree", "doc/fltk1.3-doc/HTML",
         ".header .title, .contents", _DOXYGEN),
    Site("xerces", "libxerces-c-doc", "doxygen", "doc/libxerces-c-doc/html/apiDocs-3",
         ".header .title, .contents", _DOXYGEN),
    Site("pipewire", "pipewire-doc", "doxygen awesome", "doc/pipewire/html",
         ".header .title, .contents", _DOXYGEN),
    Site("gtkmm", "libgtkmm-4.0-doc", "doxygen gtkmm", "doc/libgtkmm-4.0-doc/reference/html",
         ".header .title, .contents", _DOXYGEN),
    Site("pascal", "fp-docs-3.2.2", "fpdoc", "doc/fp-docs/3.2.2/rtl", "body", (".bar",)),
    Site("pike", "pike8.0-doc", "autodoc", "doc/pike8.0-doc/html/reference", "#page .contentbox"),
    Site("coffeescript", "coffeescript-doc", "docco", "doc/coffeescript/html/v2/annotated-source",
         "#container", ("#jump_to", ".sswrap", ".pilwrap")),
    Site("cppreference", "cppreference-doc-en-html", "mediawiki",
         "cppreference/doc/html/en", "#content",
         ("#siteSub", "#contentSub", "#jump-to-nav", "#toc", ".t-navbar", ".editsection",
          ".printfooter", "#catlinks", ".noprint")),
    Site("spectre", "libjs-spectre-docs", "spectre", "doc/libjs-spectre-docs/docs", "#content",
         ("a.anchor", ".docs-footer", ".btn.off-canvas-toggle", ".docs-navbar")),
    Site("tomcat", "tomcat10-docs", "tomcat", "doc/tomcat10-docs/docs", "#mainRight #content",
         ("#comments_thread", "#Table_of_Contents", "#Table_of_Contents + .text")),
    Site("slurm", "slurm-wlm-doc", "slurm", "doc/slurm-wlm/html", ".content[role=main]",
         (".footer",)),
    Site("povray", "povray-doc", "povray", "doc/povray/html", "div.Content", (".HeaderFooter",)),
    Site("exim", "exim4-doc-html", "exim", "doc/exim4-doc-html/spec_html", "#chapter",
         ("#chapterlist", ".chapternav", ".navigation")),
    Site("privoxy", "privoxy", "docbook dsssl", "doc/privoxy", "body",
         (".NAVHEADER", ".NAVFOOTER", ".TOC")),
    Site("debian-faq", "debian-faq", "docbook debian", "doc/debian/FAQ", "body > div", _DOCBOOK),
    Site("debmake", "debmake-doc", "docbook debian", "doc/debmake-doc/html", "body > div",
         _DOCBOOK),
    Site("boost", "libboost1.74-doc", "boostbook", "doc/libboost1.74-doc/doc/html", "body > div",
         (*_DOCBOOK, ".spirit-nav", ".copyright-footer")),
    Site("cockpit", "cockpit-doc", "docbook cockpit", "doc/cockpit/guide", "body > div", _DOCBOOK),
    Site("wayland", "libwayland-doc", "publican", "doc/wayland/Wayland", "body > div",
         (*_DOCBOOK, ".docnav")),
    Site("shorewall", "shorewall-doc", "docbook shorewall", "doc/shorewall-doc/html",
         "div.article, div.refentry", _DOCBOOK),
    Site("ntpsec", "ntpsec-doc", "asciidoctor", "doc/ntpsec-doc/html", "#header h1, #content",
         ("#toc",)),
    Site("lilypond", "lilypond-doc-html", "texi2html lilypond",
         "doc/lilypond/html/Documentation", "#main", ("table.nav_table", "#footer")),
    Site("maxima", "maxima-doc", "makeinfo", "doc/maxima-doc/html", "body", _TEXINFO),
    Site("zsh", "zsh-doc", "makeinfo", "doc/zsh-doc/html", "body", _TEXINFO),
    Site("gnuplot", "gnuplot-doc", "latex2html", "doc/gnuplot/htmldocs", "body",
         (".navigation", "address")),
    Site("racket", "racket-doc", "scribble", "doc/racket", "div.main",
         (".navsettop", ".navsetbottom", ".RBackgroundLabel", ".versionbox")),
    Site("prolog", "swi-prolog-doc", "pldoc", "doc/swi-prolog-doc/Manual", "body", (".navigate",)),
    Site("live", "live-manual-html", "sisu", "doc/live-manual/html/live-manual", "body",
         ("table", "label.ocn", "h1.tiny")),
    Site("gap", "gap-doc", "gapdoc", "doc/gap-doc/doc/ref", "body",
         (".chlinktop", ".chlinkbot", ".chlinkprevnexttop", ".chlinkprevnextbot", ".ChapSects",
          "#mathjaxlink", ".foot")),
    Site("xen", "xen-doc", "pandoc", "doc/xen-doc/html", "body", ("#TOC",)),
    Site("postfix", "postfix-doc", "postfix", "doc/postfix/html", "body"),
    Site("vim", "vim-doc", "vim2html", "doc/vim/html", "body"),
    Site("ncurses", "ncurses-doc", "man2html", "doc/ncurses-doc/html/man", "body", (".nav",)),
    Site("ant", "ant-doc", "ant", "doc/ant/manual", "body"),
    Site("annotations", "c++-annotations-html", "yodl", "doc/c++-annotations/html", "body"),
)  # fmt: skip
