// An invented wire format, which shows what adding one to the product takes. Requests are a model and lines of text;
// answers are lines, `say …` for text, `used IN OUT` for tokens and `end`.
import { openaiAnswers, STEERING } from '../../../../core/inference/caller/openai.ts';
import { optionalStrings } from '../../../../core/inference/caller/read.ts';
import { readStart } from '../../../../core/inference/caller/start.ts';
import { svcText } from '../../../../core/inference/caller/svc.ts';
import { Assembler } from '../../../../core/inference/canonical/assemble.ts';
import type { Adapter, Dialect, StreamDecoder } from '../../../../core/inference/canonical/contract.ts';
import type {
  CanonicalAnswer,
  CanonicalEvent,
  CanonicalRequest,
  DialectName,
  Family,
  Part,
  ReplyEnd,
} from '../../../../core/inference/canonical/types.ts';
import type { Format } from '../../../../core/inference/formats/format.ts';
import { listModels } from '../../../../core/inference/upstream/kind.ts';
import { ProtocolFault } from '../../../../core/inference/wire/fault.ts';

// Types know the product's formats; a format of the product would add its names in its `index.ts`.
const FAMILY = 'acme_lines' as string as Family;
const DIALECT = 'acme' as string as DialectName;

const textOf = (parts: readonly Part[]): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('');

function used({ usage }: ReplyEnd): string {
  return `used ${usage.input_tokens} ${usage.output_tokens}\n`;
}

const acme: Dialect = {
  ...openaiAnswers,
  name: DIALECT,
  coverage: null,
  readInSteps: null,
  read(value, headers): CanonicalRequest {
    const { body, ...start } = readStart(value, headers);
    const lines = optionalStrings(body['lines'], 'lines') ?? [];
    return {
      ...start,
      messages: lines.map((text) => ({ role: 'user', content: [{ type: 'text', text }] })),
      generation: {},
      include_usage: true,
      dialect: DIALECT,
    };
  },
  write: (answer, meta, end) =>
    `{"say":${JSON.stringify(textOf(answer.candidates[0]?.content ?? []))},"svc":${svcText(meta, end)}}`,
  writer: () => ({
    write(event) {
      const text = event.type === 'part_delta' ? event.text : undefined;
      return text === undefined ? '' : `say ${text}\n`;
    },
    end: (end) => `${used(end)}end\n`,
    fail: (fault) => `fault ${fault.code}\n`,
    keepAlive: () => '\n',
  }),
  organization_header: 'acme-organization',
  spared: STEERING,
  account: null,
  repeats: false,
  operation: 'chat',
};

class LineDecoder implements StreamDecoder {
  #rest = '';
  #open = false;

  push(bytes: Buffer): CanonicalEvent[] {
    const lines = (this.#rest + bytes.toString('utf8')).split('\n');
    this.#rest = lines.pop() as string;
    return lines.flatMap((line) => this.#read(line));
  }

  end(): CanonicalEvent[] {
    return [];
  }

  #read(line: string): CanonicalEvent[] {
    const at = { candidate: 0, part: 0 };
    const [word, rest = ''] = line.split(/ (.*)/s);
    if (word === 'say') {
      const first: CanonicalEvent[] = this.#open
        ? []
        : [{ type: 'part_start', ...at, content: { type: 'text', text: '' } }];
      this.#open = true;
      return [...first, { type: 'part_delta', ...at, text: rest }];
    }
    if (word === 'used') {
      const [input_tokens = 0, output_tokens = 0] = rest.split(' ').map(Number);
      const none = { cache_read_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 };
      return [{ type: 'usage', usage: { input_tokens, output_tokens, ...none, source: 'provider' } }];
    }
    if (word !== 'end') return [];
    return [
      { type: 'part_stop', ...at },
      { type: 'stop', candidate: 0, stop: { reason: 'end_turn' } },
      { type: 'finish' },
    ];
  }
}

function decode(body: Buffer): CanonicalAnswer {
  const answer = new Assembler();
  for (const event of new LineDecoder().push(body)) answer.add(event);
  if (answer.answer().candidates.length === 0) throw new ProtocolFault('no line says anything');
  return answer.answer();
}

const acmeLines: Adapter = {
  family: FAMILY,
  coverage: null,
  runs: () => false,
  wire: {
    in_process: false,
    needs_cap: true,
    signed_format: null,
    writes_cache_unasked: false,
    provider_name: 'acme.lines',
  },
  searchTool: null,
  counting: null,
  promptTokens: null,
  inlines: () => false,
  losses: () => [],
  encode: (request, target, { max_tokens }) => ({
    path: '/lines',
    headers: ['acme-version', '1'],
    body: Buffer.from(
      JSON.stringify({
        model: target.upstream_model,
        lines: request.messages.map(({ content }) => textOf(content)),
        most: max_tokens,
      }),
    ),
  }),
  decode,
  decoder: () => new LineDecoder(),
  classify: (status) => ({ class: status === 401 ? 'auth' : 'server', status, message: 'acme refuses' }),
};

/** The whole format. */
export const acmeFormat: Format = {
  callers: () => ({ routes: [{ path: '/v1/acme/lines', dialect: acme }], questions: [], guests: [] }),
  upstream: acmeLines,
  kinds: [
    {
      kind: 'acme',
      families: { text: FAMILY, embed: null, rerank: null },
      hour_writes: false,
      authenticate: (key) => ({ headers: ['acme-key', key] }),
      probe: listModels,
    },
  ],
  raw: null,
};
