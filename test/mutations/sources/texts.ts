// Texts that are no behaviour: what a person reads in a log or an error, what a document says, and SQL, which PostgreSQL's own
// tests and `../ledger` are for. Stryker asks this plugin about each node of a file, and changes nothing inside those it names.
interface Node {
  readonly type: string;
  readonly name?: string;
  readonly value?: unknown;
  readonly callee?: Node;
  readonly object?: Node;
  readonly property?: Node;
  readonly key?: Node;
  /** What a variable is called. */
  readonly id?: Node;
}

/** A node among those around it, as Babel gives it. */
interface Path {
  readonly node: Node;
  readonly parent: Node | null;
  readonly parentPath: Path | null;
}

/** Fields that hold a text for people, or a statement and its name. */
const FIELDS = ['text', 'name', 'description', 'message', 'title'];
const MADE = /(?:Error|^BrokenHistory)$/;
const LOGS = ['debug', 'info', 'warn', 'error'];

const isText = ({ type }: Node) => type === 'StringLiteral' || type === 'TemplateLiteral';

/** Of several words, or with values in between; a word alone is a code that programs read. */
const isSentence = ({ type, value }: Node) => type === 'TemplateLiteral' || String(value).includes(' ');

/** In `new ServiceError(code, text)`, `invalid(field, code, text)` and the like, or in `const words`, which such a call gets. */
function isMade({ type, callee, id }: Node): boolean {
  if (type === 'VariableDeclarator') return id?.name === 'words' || id?.name === 'message';
  if (type === 'CallExpression') return callee?.name === 'invalid';
  return type === 'NewExpression' && MADE.test(callee?.name ?? '');
}

/** What gets `path` as a whole: one of two texts is as good as one. */
function takerOf({ parent, parentPath }: Path): Node | null {
  return parentPath !== null && parent?.type === 'ConditionalExpression' ? takerOf(parentPath) : parent;
}

function isLogged(parent: Node): boolean {
  if (parent.type !== 'CallExpression' || parent.callee?.type !== 'MemberExpression') return false;
  return LOGS.includes(parent.callee.property?.name ?? '');
}

/** What a verifier says of a finding, behind the word by which it is looked up. */
function isReported({ type, callee }: Node): boolean {
  return type === 'CallExpression' && (callee?.name ?? callee?.property?.name) === 'report';
}

const isField = (parent: Node) => parent.type === 'ObjectProperty' && FIELDS.includes(parent.key?.name ?? '');

/** Why nothing inside of `path` is changed, if so. */
function shouldIgnore(path: Path): string | undefined {
  const { node } = path;
  const parent = takerOf(path);
  if (parent === null || !isText(node)) return undefined;
  if (isMade(parent) && isSentence(node)) return 'the text of an error';
  if (isLogged(parent)) return 'the text of a log line';
  if (isReported(parent) && isSentence(node)) return 'the text of a finding';
  return isField(parent) ? 'a statement, or a text of a document' : undefined;
}

/** What Stryker looks for in a plugin. */
export const strykerPlugins = [{ kind: 'Ignore', name: 'texts', value: { shouldIgnore } }];
