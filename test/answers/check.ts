// Checks recorded answers against the OpenAPI document: the status is one that the operation declares, a JSON body and every
// event of a stream satisfy the schema that stands there.
import { openApiDocument } from '@svc/core/operations/index.ts';
import { Compile } from 'typebox/schema';
import { type Recorded, readRecorded } from './record.ts';

type Check = ReturnType<typeof Compile>;
interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly content?: Record<string, { schema?: object }> }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: object };
}

/** How many faults of one set of answers are listed. */
const LISTED_MAX = 20;
const SHOWN = 600;

/** The data of each complete event of `text`, without the end mark of OpenAI's streams. */
function eventsIn(text: string): string[] {
  return text
    .split(/\r?\n\r?\n/)
    .slice(0, -1)
    .map((event) =>
      event
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).trimStart())
        .join('\n'),
    )
    .filter((data) => data !== '' && data !== '[DONE]');
}

/** What `check` finds wrong with `text`; null when nothing is. */
function faultOf(check: Check, text: string): string | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return `no JSON: ${text.slice(0, SHOWN)}`;
  }
  if (check.Check(value)) return null;
  const [, errors] = check.Errors(value);
  const said = errors.slice(0, 4).map((error) => `${error.instancePath} ${error.message}`);
  return `${said.join('; ')} in ${text.slice(0, SHOWN)}`;
}

/** The document's judgement of answers; schemas are compiled when an answer first needs them. */
export class AnswerCheck {
  readonly #routes: { readonly path: RegExp; readonly methods: Readonly<Record<string, Operation>> }[];
  readonly #schemas: unknown;
  readonly #compiled = new Map<string, Check>();

  constructor() {
    const whole = JSON.stringify(openApiDocument('http://127.0.0.1:8080'));
    const document = JSON.parse(whole.replaceAll('#/components/schemas/', '#/$defs/')) as Document;
    this.#schemas = document.components.schemas;
    // Paths without parameters first: `/v1/keys/current` is no key called "current".
    const paths = Object.entries(document.paths).sort(
      ([a], [b]) => a.split('{').length - b.split('{').length,
    );
    this.#routes = paths.map(([path, methods]) => ({
      path: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      methods,
    }));
  }

  /** How `answer` deviates from the document. Answers of routes that it does not describe are not checked. */
  faults(answer: Recorded): string[] {
    const route = this.#routes.find(({ path }) => path.test(answer.path));
    const operation = route?.methods[answer.method.toLowerCase()];
    if (operation === undefined) return [];
    const { operationId: name, responses } = operation;
    const said = `${name} ${answer.status}`;
    const response = responses[answer.status];
    if (response === undefined)
      return [`${said}: no such status is described: ${answer.text.slice(0, SHOWN)}`];
    const type = answer.type.split(';')[0] as string;
    const content = response.content?.[type];
    if (content === undefined) {
      return answer.text === '' ? [] : [`${said}: no such type is described: ${answer.type}`];
    }
    if (content.schema === undefined) return [];
    const stream = type === 'text/event-stream';
    if (type !== 'application/json' && !stream) return [];
    if (!stream && !answer.whole) return [];
    const check = this.#checkOf(content.schema);
    return (stream ? eventsIn(answer.text) : [answer.text])
      .map((text) => faultOf(check, text))
      .filter((fault) => fault !== null)
      .map((fault) => `${said} ${type}: ${fault}`);
  }

  /** The first faults of all that is recorded in `folder`. */
  faultsIn(folder: string): string[] {
    const faults = new Set<string>();
    for (const answer of readRecorded(folder)) {
      for (const fault of this.faults(answer)) faults.add(fault);
      if (faults.size >= LISTED_MAX) break;
    }
    return [...faults];
  }

  #checkOf(schema: object): Check {
    const key = JSON.stringify(schema);
    let check = this.#compiled.get(key);
    if (check === undefined) {
      check = Compile({ allOf: [schema], $defs: this.#schemas } as never);
      this.#compiled.set(key, check);
    }
    return check;
  }
}
