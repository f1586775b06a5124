// Tools in a namespace, for families that know none: each becomes a function with a name of both, and a call of it goes
// back under its own name and namespace.
import { sha256Hex } from '../../../kernel/index.ts';

/** A tool as its caller names it. */
export interface SpacedName {
  readonly namespace: string;
  readonly name: string;
}

/** What families take for the name of a function. */
const NAME_MAX = 64;
const DIGEST = 12;

/** The name of a function for `name` in `namespace`: the same in every turn, and none of `taken`. */
function flatName({ namespace, name }: SpacedName, taken: ReadonlySet<string>): string {
  const joined = `${namespace}${namespace.endsWith('__') ? '' : '__'}${name}`.replaceAll(/[^\w-]/g, '_');
  if (joined.length <= NAME_MAX && !taken.has(joined)) return joined;
  const digest = sha256Hex(`${namespace}\n${name}`).slice(0, DIGEST);
  return `${joined.slice(0, NAME_MAX - DIGEST - 1)}_${digest}`;
}

/** The namespaces of one request, and what its functions are called by. */
export class Namespaces {
  readonly #taken = new Set<string>();
  readonly #names = new Map<string, SpacedName>();

  /** A function outside of all namespaces has this name. */
  take(name: string): void {
    this.#taken.add(name);
  }

  /** The name of the function for `tool`. */
  add(tool: SpacedName): string {
    const flat = flatName(tool, this.#taken);
    const other = this.#names.get(flat);
    const free = other === undefined || (other.namespace === tool.namespace && other.name === tool.name);
    const name = free ? flat : flatName(tool, new Set([flat]));
    this.#names.set(name, tool);
    return name;
  }

  /** What a function is called by where a call or a choice names it, in a namespace or in none. */
  nameOf(name: string, namespace: unknown): string {
    if (typeof namespace !== 'string' || namespace === '') return name;
    return this.add({ namespace, name });
  }

  /** Names by the functions'; undefined where the request has no namespace. */
  get names(): ReadonlyMap<string, SpacedName> | undefined {
    return this.#names.size === 0 ? undefined : this.#names;
  }
}
