// Messages of other tools, as messages of a case.
import { isObject, type JsonObject } from '@svc/core/kernel/index.ts';

const ROLES: Readonly<Record<string, string>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  human: 'user',
  assistant: 'assistant',
};
const TEXTS = new Set(['text', 'input_text', 'output_text']);

/** The text of a content: a string, or parts that are all text; null where one is something else. */
export function contentText(content: unknown): string | null {
  if (typeof content === 'string') return content;
  if (isObject(content)) {
    const { type, text } = content;
    return TEXTS.has(String(type)) && typeof text === 'string' ? text : null;
  }
  if (!Array.isArray(content)) return null;
  const texts = content.map(contentText);
  return texts.includes(null) ? null : texts.join('\n');
}

/** Messages of a case; or why they cannot be. */
export function readMessages(value: unknown): JsonObject[] | string {
  if (typeof value === 'string') return [{ role: 'user', content: value }];
  if (!Array.isArray(value) || value.length === 0) return 'messages are not a list';
  const messages: JsonObject[] = [];
  for (const one of value) {
    if (!isObject(one)) return 'a message is not an object';
    const role = ROLES[String(one['role'] ?? 'user')];
    if (role === undefined) return `a message of role ${JSON.stringify(one['role'])}`;
    if (Array.isArray(one['tool_calls']) && one['tool_calls'].length > 0)
      return 'a message with calls of tools';
    const content = contentText(one['content']);
    if (content === null) return 'a message that is not all text';
    messages.push({ role, content });
  }
  return messages;
}

/** `messages` with `change` applied to every text. */
export function mapTexts(messages: readonly JsonObject[], change: (text: string) => string): JsonObject[] {
  return messages.map((one) => ({ ...one, content: change(String(one['content'])) }));
}
