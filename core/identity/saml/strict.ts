// Reads XML by a grammar so narrow that no two parsers can take a document for different things, and refuses the rest: what
// attacks on SAML live on is a verifier that reads one document and a consumer that reads another. Nothing is taken from
// here; it only refuses. The one parser is the library's.
import { SsoFault } from '../sso/fault.ts';

/**
 * How large a document may be. An honest answer with a thousand groups has some 2,100 elements; the library's time grows with
 * their square, and it took 19 s for 10,000.
 */
interface Bounds {
  readonly bytes_max: number;
  readonly elements_max: number;
  readonly depth_max: number;
}
const ATTRIBUTES_MAX = 32;

export interface Element {
  /** Name without its prefix. */
  readonly local: string;
  readonly namespace: string;
  readonly attributes: readonly Attribute[];
  /** Elements around it, outermost first. */
  readonly around: readonly Element[];
}

interface Attribute {
  /** Empty when there is none. */
  readonly prefix: string;
  readonly local: string;
  readonly value: string;
}

type Scope = Readonly<Record<string, string>>;
interface Open {
  readonly name: string;
  readonly element: Element;
  readonly scope: Scope;
}

const DECLARATION =
  /^<\?xml version=["']1\.0["'](?: encoding=["'](?:UTF|utf)-8["'])?(?: standalone=["'](?:yes|no)["'])?\s*\?>/;
const NAME = '[A-Za-z_][A-Za-z0-9_.-]*';
const TAG = new RegExp(
  `<(?:/((?:${NAME}:)?${NAME})\\s*>|((?:${NAME}:)?${NAME})` +
    `((?:\\s+(?:${NAME}:)?${NAME}\\s*=\\s*(?:"[^"<]*"|'[^'<]*'))*)\\s*(/?)>)`,
  'y',
);
const ATTRIBUTE = new RegExp(`(?:(${NAME}):)?(${NAME})\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'g');
/** What is no character of XML 1.0, and half pairs. */
const NO_CHARACTER = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/u;
const REFERENCE = /&(?:(amp|lt|gt|quot|apos)|#x([0-9A-Fa-f]{1,6})|#([0-9]{1,7}));|&/g;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const malformed = () => new SsoFault('answer_malformed');

/** `text` with its references resolved; only those of XML itself are known. @throws SsoFault. */
function resolved(text: string): string {
  return text.replaceAll(REFERENCE, (_all, named?: string, hex?: string, decimal?: string) => {
    if (named !== undefined) return NAMED[named] as string;
    const digits = hex ?? decimal;
    const code = digits === undefined ? 0 : Number.parseInt(digits, hex === undefined ? 10 : 16);
    const character = code === 0 || code > 0x10_ffff ? '\0' : String.fromCodePoint(code);
    if (NO_CHARACTER.test(character)) throw malformed();
    return character;
  });
}

function attributesOf(text: string): Attribute[] {
  const found = [...text.matchAll(ATTRIBUTE)].map(([, prefix = '', local = '', double, single]) => ({
    prefix,
    local,
    value: resolved(double ?? single ?? ''),
  }));
  const names = new Set(found.map(({ prefix, local }) => `${prefix}:${local}`));
  if (found.length > ATTRIBUTES_MAX || names.size !== found.length) throw malformed();
  return found;
}

/** Namespaces that `attributes` declare, over those of `scope`. A relative one has no meaning that parsers agree on. */
function scopeOf(scope: Scope, attributes: readonly Attribute[]): Scope {
  const declared = attributes.filter(
    ({ prefix, local }) => prefix === 'xmlns' || (!prefix && local === 'xmlns'),
  );
  if (declared.length === 0) return scope;
  const next: Record<string, string> = { ...scope };
  for (const { prefix, local, value } of declared) {
    if (!/^(?:https?:\/\/|urn:)[!-~]+$/.test(value) || local === 'xml' || local === '__proto__')
      throw malformed();
    next[prefix === 'xmlns' ? local : ''] = value;
  }
  return next;
}

function elementOf(name: string, text: string, open: readonly Open[]): Open {
  const attributes = attributesOf(text);
  const scope = scopeOf(open.at(-1)?.scope ?? { xml: 'http://www.w3.org/XML/1998/namespace' }, attributes);
  const at = name.indexOf(':');
  const prefix = at < 0 ? '' : name.slice(0, at);
  const known = (one: string) => Object.hasOwn(scope, one) || one === 'xmlns';
  if (prefix !== '' && !known(prefix)) throw malformed();
  if (attributes.some((one) => one.prefix !== '' && !known(one.prefix))) throw malformed();
  const around = open.map(({ element }) => element);
  const element = { local: name.slice(at + 1), namespace: scope[prefix] ?? '', attributes, around };
  return { name, element, scope };
}

/**
 * Walks the elements of `text` in order. @throws SsoFault answer_too_large, answer_malformed: also for a document type, an
 * entity, a comment, CDATA, a processing instruction, a name twice, or anything else that is not plainly XML.
 */
export function walk(text: string, bounds: Bounds, visit: (element: Element) => void): void {
  if (Buffer.byteLength(text) > bounds.bytes_max) throw new SsoFault('answer_too_large');
  if (NO_CHARACTER.test(text)) throw malformed();
  const open: Open[] = [];
  let elements = 0;
  let at = DECLARATION.exec(text)?.[0].length ?? 0;
  for (;;) {
    const next = text.indexOf('<', at);
    const between = text.slice(at, next < 0 ? undefined : next);
    if (between.includes(']]>') || (open.length === 0 && between.trim() !== '')) throw malformed();
    resolved(between);
    if (next < 0) break;
    TAG.lastIndex = next;
    const [all = '', closes, opens, attributes = '', is_empty] = TAG.exec(text) ?? [];
    at = next + all.length;
    if (closes !== undefined) {
      if (open.pop()?.name !== closes) throw malformed();
      continue;
    }
    if (opens === undefined || (open.length === 0 && elements > 0)) throw malformed();
    elements++;
    if (elements > bounds.elements_max || open.length >= bounds.depth_max)
      throw new SsoFault('answer_too_large');
    const made = elementOf(opens, attributes, open);
    visit(made.element);
    if (is_empty === '') open.push(made);
  }
  if (open.length > 0 || elements === 0) throw malformed();
}
