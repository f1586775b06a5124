// Arguments of tools, of families that take objects alone. A custom tool, which takes free text, is sent as a function
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

/** The free text that an emulated custom tool was called with. */
export function customInput(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    if (isObject(value) && typeof value['input'] === 'string') return value['input'];
  } catch {
    // The model's own words are a better argument than none.
  }
  return json;
}

/** Arguments as the family's `input`, an object: what is not one goes below the key `arguments`. */
export function inputText(json: string): string {
  if (json.trim() === '') return '{}';
  try {
    if (isObject(JSON.parse(json))) return json;
  } catch {
    // Not JSON: a model wrote it, and the next turn must still see what it wrote.
  }
  return `{"arguments":${JSON.stringify(json)}}`;
}
