"""Reads which functions and classes C++ sources declare and define in namespaces.

Enough for sources of this repository: laid out by clang-format, without macros that make functions. Of two
branches of a preprocessor condition it reads the first.
"""
import re

HIDDEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
DIRECTIVE = re.compile(r'^[ \t]*#(?:\\\n|[^\n])*', re.M)
OTHER_BRANCH = re.compile(r'^[ \t]*#\s*(?:else|elif)\b.*?(?=^[ \t]*#\s*endif)', re.M | re.S)
NAMESPACE = re.compile(r'^(?:inline\s+)?namespace\b\s*([\w:]*)$|^extern\s+""$')
CLASS = re.compile(r'(?:^|[\s>])(?:class|struct|union)\s+(?:\[\[[^\]]*\]\]\s*)?(\w+)(?:\s+final)?\s*(?::(?!:)|$)')
NAME = re.compile(r'((?:\w+::)*(?:operator\s*(?:\(\)|[^\s\w(]+|[\w:&* ]+)|~?\w+))\s*\(')
LOCAL = re.compile(r'^(?:\[\[\w+\]\]\s*)?(?:static|using|typedef|friend|static_assert|template\s+(?:class|struct)|extern template)\b')
INITIALISER = re.compile(r'=$|\)\s*(?:noexcept\s*)?(?<!:):(?!:).*[\w>]$')  # of a value, or of a member by its constructor
OPERATOR = re.compile(r'(?<=operator)[-<>=!+*/]+')
MACRO = re.compile(r'[A-Z][A-Z0-9_]+$')
SPECIFIERS = re.compile(r'\[\[[^\]]*\]\]|__attribute__\s*\(\(.*?\)\)|\b(?:noexcept|alignas|decltype)\s*\([^()]*\)')


def items(text):
    """Yields (scopes, head, is_body) of what stands in namespaces; '' is an unnamed one."""
    text = HIDDEN.sub(lambda found: '""' if found[0][-1] in '"\'' else ' ', text)
    text = DIRECTIVE.sub('', OTHER_BRANCH.sub('', text))
    scopes, head, at = [], '', 0
    for mark in re.finditer(r'[{};]', text):
        if mark.start() < at:
            continue
        head += text[at:mark.start()]
        at = mark.end()
        if mark[0] == ';':
            yield tuple(scopes), ' '.join(head.split()), False
        elif mark[0] == '}':
            scopes.pop()
        else:
            head = ' '.join(head.split())
            if opened := NAMESPACE.match(head):
                scopes.append(opened[1] or '')
                head = ''
                continue
            depth = 1
            while depth:
                brace = re.compile(r'[{}]').search(text, at)
                depth += 1 if brace[0] == '{' else -1
                at = brace.end()
            if INITIALISER.search(head) or head.count('(') > head.count(')'):
                head += ' {}'
                continue
            yield tuple(scopes), head, True
            # Behind a class or a value stands more of the same item.
            head = head + ' {}' if text[at:at + 40].lstrip()[:1] in (';', ',') else ''
            continue
        head = ''


def without_templates(head):
    """The text without template arguments."""
    head = OPERATOR.sub(lambda sign: sign[0].replace('<', '\1').replace('>', '\2'), head).replace('->', '  ')
    while (less := re.sub(r'<[^<>]*>', '', head)) != head:
        head = less
    return head.replace('\1', '<').replace('\2', '>')


def parameter_types(text):
    """The types of a list of parameters, roughly: two declarations of one function give the same."""
    types, depth, begin = [], 0, 0
    for i, c in enumerate(text + ','):
        depth += {'(': 1, ')': -1}.get(c, 0)
        if c == ',' and depth == 0:
            one = text[begin:i].split('=')[0].strip()
            begin = i + 1
            shorter = re.sub(r'(?<=[\s&*])\w+(?:\[\w*\])?$', '', one).strip()
            types.append(one if shorter in ('', 'const') else shorter)
    types = [re.sub(r'\w+::|\b(?:class|struct|enum) ', '', one) for one in types if one]
    return ', '.join(re.sub(r'\s*([&*])', r'\1', one) for one in types)


def functions(text):
    """Yields (name, types, is_definition) of functions that other sources see."""
    for scopes, head, is_body in items(text):
        if '' in scopes or LOCAL.match(head) or CLASS.search(head.split('(')[0]) or head.startswith('enum'):
            continue
        flat = without_templates(SPECIFIERS.sub('', head))
        name = NAME.search(flat)
        if name is None or MACRO.match(name[1]) or '=' in flat[:name.start()] or ' {}' in flat[:name.start()]:
            continue
        depth, end = 1, name.end()
        while depth and end < len(flat):
            depth += {'(': 1, ')': -1}.get(flat[end], 0)
            end += 1
        whole = '::'.join(scopes + (name[1].replace(' ', ''),))
        is_definition = is_body or flat.endswith('= default')
        yield whole, parameter_types(flat[name.end():end - 1]), is_definition


def classes(text):
    """Yields the names of the classes that are defined in namespaces, with the namespaces."""
    for scopes, head, is_body in items(text):
        found = CLASS.search(without_templates(head).split('(')[0]) if is_body else None
        if found and not head.startswith('enum'):
            yield '::'.join(scopes + (found[1],))
