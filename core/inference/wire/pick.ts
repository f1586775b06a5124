// Reads single members of a JSON object without changing their bytes.
import type { JsonObject } from '../../kernel/index.ts';
import { ProtocolFault } from './fault.ts';
import { scanObject } from './scan.ts';

/**
 * JSON text of those members of the object `body` that are in `names`, in the body's order; only names that occur
 * once.
 */
export function pickMembers(body: Buffer, names: ReadonlySet<string>): string[] {
  const top = scanObject(body);
  if (top === null) {
    const members = Object.entries(JSON.parse(body.toString('utf8')) as JsonObject);
    return members
      .filter(([name]) => names.has(name))
      .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  }
  return top.members
    .filter(({ name }) => names.has(name))
    .map(({ name, from, to }) => `${JSON.stringify(name)}:${body.toString('utf8', from, to)}`);
}

/**
 * The count that the object `body` has as its member `name`, and the whole object.
 * @throws ProtocolFault when there is no such count.
 */
export function countIn(body: Buffer, name: string): { count: number; reply: JsonObject } {
  let reply: unknown;
  try {
    reply = JSON.parse(body.toString('utf8'));
  } catch {
    throw new ProtocolFault('the count is not JSON');
  }
  const count = (reply as JsonObject | null)?.[name];
  if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0) {
    throw new ProtocolFault(`'${name}' is no count`);
  }
  return { count, reply: reply as JsonObject };
}
