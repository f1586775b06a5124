// Refusals in the document: the envelopes, and for every status the codes behind it with an example of each.
import { readFileSync } from 'node:fs';
import { builtIn, docUrl } from '../../inference/index.ts';
import { codes, type ErrorCode, ServiceError } from '../../kernel/index.ts';
import type { Components, Json } from './components.ts';

const source = new URL('../../../docs/errors.md', import.meta.url);

/** A row of the table of docs/errors.md. */
interface ErrorRow {
  readonly code: string;
  readonly status: string;
  readonly type: string;
  /** `yes` or `no`. */
  readonly retry: string;
  readonly meaning: string;
  readonly help: string;
}

/** The table of docs/errors.md. @throws Error when the document is missing from the installation. */
export function errorTable(): ErrorRow[] {
  const rows: ErrorRow[] = [];
  for (const line of readFileSync(source, 'utf8').split('\n')) {
    const cells = line.split('|').map((cell) => cell.trim());
    const code = /^`(\w+)`$/.exec(cells[1] ?? '')?.[1];
    if (code === undefined) continue;
    const [status = '', type = '', retry = '', meaning = '', help = ''] = cells.slice(2);
    rows.push({ code, status, type, retry, meaning, help });
  }
  return rows;
}

/** The members of an error on every surface, wherever the envelope has them. */
const members: Json = {
  message: { type: 'string', description: 'One sentence for people; it may change.' },
  type: { $ref: '#/components/schemas/ErrorType' },
  code: { $ref: '#/components/schemas/ErrorCode' },
  param: {
    anyOf: [{ type: 'string' }, { type: 'null' }],
    description: 'Path of the faulty field, dotted with indexes, or null.',
  },
  details: {
    type: 'object',
    additionalProperties: true,
    description: 'Details of this code, as the table of errors names them.',
  },
  doc_url: {
    type: 'string',
    format: 'uri',
    pattern: '^https?://[^/].*/docs/errors#[a-z_]+$',
    description: 'Where the code is explained.',
  },
};
const requestId: Json = {
  type: 'string',
  pattern: '^[0-9A-HJKMNP-TV-Z]{26}$',
  description: 'Also in the header `x-svc-request-id`.',
};

function envelope(inner: Json, beside: Json, description: string): Json {
  const error = { type: 'object', required: Object.keys(inner), properties: inner };
  const properties = { ...beside, error };
  return { type: 'object', description, required: Object.keys(properties), properties };
}

/** What an error looks like: ours, or as clients of the messages routes read it. */
export type Envelope = 'Refusal' | 'MessagesError';

const REQUEST_ID = '01KACZ3V8S6T5R4Q3P2N1M0K9J';

/** The bodies of refusals at `base_url`, and the responses that hold them. */
export class ErrorResponses {
  readonly examples: Record<string, Json> = {};
  readonly #base_url: string;
  readonly #meanings = new Map(errorTable().map(({ code, meaning }) => [code, meaning]));

  constructor(components: Components, base_url: string) {
    this.#base_url = base_url;
    const types = [...new Set(Object.values(codes).map((code) => code.type))];
    components.add('ErrorType', { type: 'string', enum: types, description: 'The class of an error.' });
    components.add('ErrorCode', {
      type: 'string',
      enum: Object.keys(codes),
      description: 'What programs match on; explained at [/docs/errors](/docs/errors).',
    });
    components.add(
      'Refusal',
      envelope(
        { ...members, request_id: requestId },
        {},
        'The form of every error, except on the messages routes.',
      ),
    );
    const type = {
      type: 'string',
      description: "The class of the error in the words of the format's clients.",
    };
    components.add(
      'MessagesError',
      envelope(
        { ...members, type },
        { type: { type: 'string', const: 'error' }, request_id: requestId },
        'The form of an error on the messages routes.',
      ),
    );
  }

  /** The responses of `declared`, one for each status. */
  of(declared: readonly ErrorCode[], form: Envelope = 'Refusal'): Record<string, Json> {
    const messages = builtIn.dialects.get('/v1/messages');
    const by_status = new Map<number, Set<ErrorCode>>();
    for (const code of declared) {
      const error = new ServiceError(code, '');
      const status = form === 'Refusal' ? error.status : (messages?.status(error) ?? error.status);
      by_status.set(status, (by_status.get(status) ?? new Set()).add(code));
    }
    const sorted = [...by_status].sort(([a], [b]) => a - b);
    return Object.fromEntries(
      sorted.map(([status, names]) => [
        String(status),
        {
          description: [...names].map((name) => `\`${name}\``).join(', '),
          content: {
            'application/json': {
              schema: { $ref: `#/components/schemas/${form}` },
              examples: Object.fromEntries([...names].map((name) => [name, this.#example(name, form)])),
            },
          },
        },
      ]),
    );
  }

  #example(code: ErrorCode, form: Envelope): Json {
    const name = form === 'Refusal' ? code : `messages_${code}`;
    this.examples[name] ??= this.#made(code, form);
    return { $ref: `#/components/examples/${name}` };
  }

  #made(code: ErrorCode, form: Envelope): Json {
    const { type } = codes[code];
    const meaning = this.#meanings.get(code) ?? code;
    const details = form === 'Refusal' ? {} : { error_code: code };
    const shared = { message: meaning, type, code, param: null, details };
    const doc_url = docUrl(code, { base_url: this.#base_url });
    const value =
      form === 'Refusal'
        ? { error: { ...shared, request_id: REQUEST_ID, doc_url } }
        : { type: 'error', request_id: REQUEST_ID, error: { ...shared, doc_url } };
    return { summary: meaning, value };
  }
}
