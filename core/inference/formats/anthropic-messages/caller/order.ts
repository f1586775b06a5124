// Tool calls and results must match before any money is held (docs/fidelity.md#the-canonical-form).
import { isObject } from '../../../../kernel/index.ts';
import { fail } from '../../../caller/read.ts';

/**
 * Checks that every result belongs to a call of the assistant's turn before it, and that every call has one result
 * before the assistant's next turn. Adjacent messages of one role are one turn. @throws ServiceError invalid_request
 */
export function checkToolResults(messages: readonly unknown[]): void {
  let open = new Map<string, string>();
  let answered = new Set<string>();
  let answering = false;
  messages.forEach((message, i) => {
    if (!isObject(message) || message['role'] === 'system') return;
    const assistant = message['role'] === 'assistant';
    if (assistant && answering) {
      refuseMissing(open);
      open = new Map();
      answered = new Set();
    }
    answering = !assistant;
    if (!Array.isArray(message['content'])) return;
    message['content'].forEach((block, j) => {
      if (!isObject(block)) return;
      const param = `messages[${i}].content[${j}]`;
      if (assistant && block['type'] === 'tool_use') open.set(String(block['id']), param);
      if (!assistant && block['type'] === 'tool_result')
        take(String(block['tool_use_id']), open, answered, param);
    });
  });
  refuseMissing(open);
}

function take(id: string, open: Map<string, string>, answered: Set<string>, param: string): void {
  if (answered.has(id)) fail(`${param}.tool_use_id`, `Tool call '${id}' is answered twice.`);
  if (!open.delete(id)) {
    fail(
      `${param}.tool_use_id`,
      `'tool_result' for '${id}' does not follow a 'tool_use' block with that id.`,
    );
  }
  answered.add(id);
}

function refuseMissing(open: ReadonlyMap<string, string>): void {
  for (const [id, param] of open) fail(param, `Tool call '${id}' is not followed by its 'tool_result'.`);
}
