// How a resolver runs an operation: the caller is admitted, the input checked, and with an idempotency key it runs at
// most once. Resolvers have no other access to data, so GraphQL applies exactly the rules of REST.
import {
  type Caller,
  type Context,
  type Environment,
  FileAnswer,
  now,
  type Operation,
  type RequestId,
  type ServiceError,
} from '@svc/core/kernel/index.ts';
import { admit, admitOrNote, runOnce, runOperation } from '@svc/core/operations/index.ts';
import type { Static, TSchema } from 'typebox';
import { refusalOfBody } from './errors.ts';

/** What a surface (REST or GraphQL over HTTP) provides for one request. The schemas need nothing else of HTTP. */
export interface SurfaceRequest {
  readonly request_id: RequestId;
  readonly caller: Caller;
  /** A context for operations, acting as `caller`. */
  contextOf(caller: Caller): Context;
  /** Checks the input of `operation` as REST does. @throws ServiceError invalid_request. */
  readInput(operation: Operation, input: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** The body of a refusal as REST sends it, which is stored as the first answer under an idempotency key. */
  refusalBody(error: ServiceError): string;
  /** The refusal for anything thrown; logs defects. */
  explain(thrown: unknown): ServiceError;
}

export interface RunOptions {
  /** The environment whose rows a session reads. A key has its own, which is fixed. */
  readonly environment?: Environment | null;
  readonly idempotency_key?: string | null;
}

/** `caller`, acting in `environment`. */
function actingIn(caller: Caller, environment: Environment | null | undefined): Caller {
  if (caller.kind !== 'session' || environment === undefined || environment === null) return caller;
  return { ...caller, environment };
}

/** The environment that `caller` acts in. */
export function environmentOf(caller: Caller): Environment {
  return caller.kind === 'key' || caller.kind === 'session' ? caller.environment : 'live';
}

export class Runner {
  readonly request: SurfaceRequest;
  /** One context per environment, created when first needed. */
  readonly #contexts = new Map<Environment, Context>();

  constructor(request: SurfaceRequest) {
    this.request = request;
  }

  get caller(): Caller {
    return this.request.caller;
  }

  /** The context in which the caller acts in `environment`. */
  context(environment: Environment | null | undefined): Context {
    const caller = actingIn(this.caller, environment);
    const key = environmentOf(caller);
    const known = this.#contexts.get(key);
    if (known !== undefined) return known;
    const made = this.request.contextOf(caller);
    this.#contexts.set(key, made);
    return made;
  }

  /** Refuses a caller that `operation` does not admit. */
  admit(operation: Pick<Operation, 'audience' | 'method'>, environment?: Environment | null): void {
    admit(operation, actingIn(this.caller, environment), now());
  }

  /** Runs `operation`. @throws ServiceError for what the operation, its audience or its input schema refuses. */
  async run<I extends TSchema, O extends TSchema>(
    operation: Operation<I, O>,
    input: Readonly<Record<string, unknown>>,
    options: RunOptions = {},
  ): Promise<Static<O>> {
    const plain = operation as unknown as Operation;
    const caller = actingIn(this.caller, options.environment);
    await admitOrNote(plain, { caller, at: now(), open: () => this.context(options.environment) });
    const checked = this.request.readInput(plain, input);
    const context = this.context(options.environment);
    const idempotency_key = options.idempotency_key ?? null;
    if (idempotency_key !== null) return this.#once(context, plain, { idempotency_key, input: checked });
    const output: unknown = await runOperation(context, plain, checked);
    if (output instanceof FileAnswer) throw new Error(`${operation.name} answered a file to GraphQL`);
    return output as Static<O>;
  }

  /**
   * Returns the first answer again when REST or GraphQL gave one under this key: both use the same path and input.
   */
  async #once<Output>(
    context: Context,
    operation: Operation,
    args: { idempotency_key: string; input: Record<string, unknown> },
  ): Promise<Output> {
    const path = operation.path.replaceAll(/:([a-z_]+)/g, (_, name: string) => String(args.input[name]));
    const answer = await runOnce(context, operation, {
      idempotency_key: args.idempotency_key,
      path,
      input: args.input,
      refusalBody: (error) => this.request.refusalBody(error),
    });
    if (answer.status >= 400) throw refusalOfBody(answer.body);
    return JSON.parse(answer.body) as Output;
  }
}
