// The providers' routes that count a prompt without an answer: the count is what a call with this prompt would report.
import { anthropic } from './anthropic.ts';
import { promptTokensOf } from './content.ts';
import { gemini } from './gemini/gemini.ts';
import { responses } from './openai/responses.ts';
import type { JsonBody, Wire, WireError } from './wire.ts';

export interface CountRoute {
  readonly wire: Wire;
  /** Members of the request that the path determines; null for a path of another provider. */
  membersOf(url: URL): JsonBody | null;
  /** The request whose prompt is counted, or what is wrong with it. */
  read(body: JsonBody): { body: JsonBody } | { fault: WireError };
  reply(tokens: number): JsonBody;
}

/** A request for a count. */
export interface CountRecord {
  readonly family: Wire['family'];
  readonly body: JsonBody;
  readonly headers: Readonly<Record<string, string>>;
  readonly key_hint: string;
}

const invalid = (message: string): { fault: WireError } => ({ fault: { status: 400, message } });

/** The first member of `body` that is not among `names`. */
function foreign(body: JsonBody, names: string): string | undefined {
  const known = new Set(names.split(' '));
  return Object.keys(body).find((name) => !known.has(name));
}

const messages: CountRoute = {
  wire: anthropic,
  membersOf: ({ pathname }) => (pathname === '/v1/messages/count_tokens' ? {} : null),
  read(body) {
    const name = foreign(
      body,
      'model messages system tools tool_choice thinking output_config cache_control speed ' +
        'context_management compaction mcp_servers output_format',
    );
    if (name !== undefined) return invalid(`${name}: Extra inputs are not permitted`);
    return { body: { ...body, max_tokens: 1 } };
  },
  reply: (input_tokens) => ({ input_tokens, context_management: { original_input_tokens: input_tokens } }),
};

const items: CountRoute = {
  wire: responses,
  membersOf: ({ pathname }) => (pathname === '/v1/responses/input_tokens' ? {} : null),
  read(body) {
    const name = foreign(
      body,
      'model input instructions tools tool_choice parallel_tool_calls reasoning text truncation ' +
        'conversation previous_response_id personality',
    );
    return name === undefined ? { body } : invalid(`Unknown parameter: '${name}'.`);
  },
  reply: (input_tokens) => ({ object: 'response.input_tokens', input_tokens }),
};

const GEMINI = /^\/v1(?:beta)?\/models\/([^/:]+):countTokens$/;

const contents: CountRoute = {
  wire: gemini,
  membersOf({ pathname }) {
    const model = GEMINI.exec(pathname)?.[1];
    return model === undefined ? null : { model: decodeURIComponent(model) };
  },
  read({ model, ...body }) {
    const name = foreign(body, 'contents generateContentRequest');
    if (name !== undefined)
      return invalid(`Invalid JSON payload received. Unknown name "${name}": Cannot find field.`);
    const inner = body['generateContentRequest'] as JsonBody | undefined;
    if (inner === undefined) return { body: { model, contents: body['contents'] } };
    if (body['contents'] !== undefined)
      return invalid('contents and generate_content_request are mutually exclusive.');
    if (inner['model'] !== `models/${String(model)}`) {
      return invalid(
        '* CountTokensRequest.generate_content_request.model: model is required to match the path.',
      );
    }
    return { body: { ...inner, model } };
  },
  reply: (totalTokens) => ({
    totalTokens,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: totalTokens }],
  }),
};

export const countRoutes: readonly CountRoute[] = [messages, items, contents];

/** The number of tokens of `body`, a request of `wire`. */
export function countOf(wire: Wire, body: JsonBody): number {
  return promptTokensOf(wire.read(body));
}
