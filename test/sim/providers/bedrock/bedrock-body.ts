// A Converse body as the provider reads and checks it.
import { type Asked, promptTokensOf, signThought, textBytes } from '../content.ts';
import type { JsonBody } from '../wire.ts';

type JsonList = JsonBody[];

const TOOL_ID = /^[a-zA-Z0-9_-]{1,64}$/;
const DOCUMENT_NAME = /^(?!.*\s\s)[a-zA-Z0-9\s\-()[\]]{1,200}$/;

/** The turns of a body. */
export function conversation(body: JsonBody): JsonList {
  return (body['messages'] as JsonList | undefined) ?? [];
}

function blocksOf(message: JsonBody | undefined): JsonList {
  return (message?.['content'] as JsonList | undefined) ?? [];
}

/** Text of the last turn of the user. */
export function usersText(body: JsonBody): string {
  const message = conversation(body).findLast(({ role }) => role === 'user');
  return blocksOf(message)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('\n');
}

/** The message with which the provider would refuse `body`; null if it accepts it. */
export function checkBody(body: JsonBody): string | null {
  const turns = conversation(body);
  if (turns.length === 0) return 'The messages field is empty.';
  if (turns[0]?.['role'] !== 'user') return 'A conversation must start with a user message.';
  const config = (body['inferenceConfig'] as JsonBody | undefined) ?? {};
  if (Number(config['temperature'] ?? 0) > 1) return 'temperature: range: 0..1';
  if (Number(config['maxTokens'] ?? 1) < 1) return 'maxTokens: at least 1';
  const names = new Set<string>();
  let asked: string[] = [];
  for (const [i, turn] of turns.entries()) {
    const before = turns[i - 1]?.['role'];
    if (before === turn['role'] && before !== 'system')
      return 'Roles must alternate between user and assistant.';
    const blocks = blocksOf(turn);
    if (blocks.length === 0) return `The content of message ${i} is empty.`;
    for (const [j, block] of blocks.entries()) {
      const fault = checkBlock(block, blocks, names);
      if (fault !== null) return `messages.${i}.content.${j}: ${fault}`;
    }
    const uses = idsOf(blocks, 'toolUse');
    const results = idsOf(blocks, 'toolResult');
    if (turn['role'] === 'user' && results.join() !== asked.join()) {
      return `Expected toolResult blocks for ${asked.join()}, found ${results.join()}.`;
    }
    if (uses.length + results.length > 0 && body['toolConfig'] === undefined) {
      return 'The toolConfig field must be defined when using toolUse and toolResult content blocks.';
    }
    asked = uses;
  }
  return null;
}

function idsOf(blocks: JsonList, kind: 'toolUse' | 'toolResult'): string[] {
  return blocks
    .map((block) => block[kind] as JsonBody | undefined)
    .filter((inner) => inner !== undefined)
    .map((inner) => String(inner['toolUseId']));
}

function checkBlock(block: JsonBody, all: JsonList, names: Set<string>): string | null {
  if (Object.keys(block).length !== 1) return 'exactly one member must be set';
  if (typeof block['text'] === 'string' && block['text'].trim() === '') return 'The text field is blank.';
  const document = block['document'] as JsonBody | undefined;
  if (document !== undefined) {
    const name = String(document['name']);
    if (!DOCUMENT_NAME.test(name)) return `The document file name '${name}' is not allowed.`;
    if (names.has(name)) return `The document name '${name}' occurs twice.`;
    names.add(name);
    if (!all.some(({ text }) => typeof text === 'string'))
      return 'A text block is required beside a document.';
  }
  const image = block['image'] as JsonBody | undefined;
  if (image !== undefined && (image['source'] as JsonBody)['bytes'] === undefined)
    return 'image without bytes';
  const used = (block['toolUse'] ?? block['toolResult']) as JsonBody | undefined;
  if (used !== undefined && !TOOL_ID.test(String(used['toolUseId'])))
    return 'toolUseId does not match its pattern';
  const thought = (block['reasoningContent'] as JsonBody | undefined)?.['reasoningText'] as
    | JsonBody
    | undefined;
  if (thought !== undefined && thought['signature'] !== signThought(String(thought['text']))) {
    return 'Invalid signature in reasoningContent';
  }
  return null;
}

/** The request in `body` for `model`. */
export function readBody(body: JsonBody, model: string): Asked {
  const config = (body['inferenceConfig'] as JsonBody | undefined) ?? {};
  const toolConfig = (body['toolConfig'] as JsonBody | undefined) ?? {};
  const specs = ((toolConfig['tools'] as JsonList | undefined) ?? [])
    .map((tool) => tool['toolSpec'] as JsonBody | undefined)
    .filter((spec) => spec !== undefined);
  const choice = toolConfig['toolChoice'] as JsonBody | undefined;
  const fields = (body['additionalModelRequestFields'] as JsonBody | undefined) ?? {};
  const thinking = (fields['thinking'] as JsonBody | undefined)?.['type'];
  const format = (body['outputConfig'] as JsonBody | undefined)?.['textFormat'] as JsonBody | undefined;
  const schema = (format?.['structure'] as JsonBody | undefined)?.['jsonSchema'] as JsonBody | undefined;
  const blocks = conversation(body).flatMap(blocksOf);
  return {
    model,
    prompt_text_bytes: textBytes(conversation(body)) + textBytes(body['system']) + textBytes(specs),
    images: blocks.filter(({ image }) => image !== undefined).length,
    cap: (config['maxTokens'] as number | undefined) ?? null,
    stops: (config['stopSequences'] as string[] | undefined) ?? [],
    tools: specs.map((spec) => ({
      name: spec['name'] as string,
      schema: (spec['inputSchema'] as JsonBody)['json'],
    })),
    tool_choice: choiceOf(choice),
    has_results: blocksOf(conversation(body).at(-1)).some(({ toolResult }) => toolResult !== undefined),
    results: blocks.filter(({ toolResult }) => toolResult !== undefined).length,
    json: schema !== undefined,
    json_schema: schema === undefined ? undefined : (JSON.parse(String(schema['schema'])) as unknown),
    reasoning: thinking === 'enabled' || thinking === 'adaptive' ? 8 : 0,
    candidates: 1,
  };
}

function choiceOf(choice: JsonBody | undefined): Asked['tool_choice'] {
  if (choice?.['any'] !== undefined) return 'required';
  const tool = choice?.['tool'] as JsonBody | undefined;
  return tool === undefined ? null : { name: tool['name'] as string };
}

const COUNTED = ['messages', 'system', 'toolConfig', 'additionalModelRequestFields'];

/** The number of tokens for `count-tokens`, or why the provider refuses: not all of its models can count. */
export function readCount(body: JsonBody, model: string): number | string {
  const { converse, ...rest } = (body['input'] as JsonBody | undefined) ?? {};
  if (typeof converse !== 'object' || converse === null || Object.keys(rest).length > 0) {
    return '1 validation error detected: input must be one of invokeModel, converse';
  }
  const foreign = Object.keys(converse).find((name) => !COUNTED.includes(name));
  if (foreign !== undefined) return `${foreign} is not a member of ConverseTokensRequest`;
  if (!model.includes('anthropic')) return 'The provided model does not support counting tokens.';
  return checkBody(converse as JsonBody) ?? promptTokensOf(readBody(converse as JsonBody, model));
}
