// Tool arguments for families that accept only objects. A custom tool, which takes free text, is sent as a function
// with one field `input`.
import { isObject } from '../../kernel/index.ts';
import type { CanonicalRequest } from './types.ts';

/**
 * Names of the custom tools that were sent as functions with one field `input`
 * (docs/compatibility.md#custom_tool_emulated).
 */
export function emulatedTools(request: CanonicalRequest): ReadonlySet<string> {
  const names = new Set<string>();
  for (const tool of request.tools ?? []) if (tool.kind === 'custom') names.add(tool.name);
  return names;
}

/** The free text with which the model called an emulated custom tool. */
export function customInput(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    if (isObject(value) && typeof value['input'] === 'string') return value['input'];
  } catch {
    // Keep what the model wrote; it is better than no argument.
  }
  return json;
}

/** Arguments for a family that wants an object: a value that is not an object is put under the key `arguments`. */
export function inputText(json: string): string {
  if (json.trim() === '') return '{}';
  try {
    if (isObject(JSON.parse(json))) return json;
  } catch {
    // The model wrote something that is not JSON; the next turn must still show what it wrote.
  }
  return `{"arguments":${JSON.stringify(json)}}`;
}
