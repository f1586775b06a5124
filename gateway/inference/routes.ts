// The inference routes. They bypass Fastify's parsing, validation and serialisation, which would cost as much as all
// the rest of a call. What a call means is decided in core/inference/call.
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  answerQuestion,
  type CallDeps,
  type Dialect,
  type Incoming,
  type Question,
  redactIncoming,
  refuseRequest,
  startCall,
} from '@svc/core/inference/index.ts';
import { type Log, type MicroUsd, nowMs, type RequestId, ServiceError } from '@svc/core/kernel/index.ts';
import { type Grant, type KeyGrant, type KeyRing, RUN_PREFIX, svcVersions } from '@svc/core/keys/index.ts';
import {
  type Gauges,
  isRefusal,
  type LimitRefusal,
  type LimitSlot,
  type LimitStore,
  limitError,
  planSubject,
  requestSubjectOf,
  subjectOf,
} from '@svc/core/limits/index.ts';
import { consoleHeaders, credentialOf, dropRest } from '@svc/http/index.ts';
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import { type Body, readBody } from './body.ts';
import { Insistence } from './insistence.ts';
import { networkPrefix } from './network.ts';
import { costCapOf } from './runs.ts';
import { ResponseSink } from './sink.ts';

interface InferenceRoutesDeps {
  readonly calls: CallDeps;
  readonly keys: KeyRing;
  readonly limits: LimitStore;
  readonly log: Log;
  readonly max_body_bytes: number;
  readonly max_calls: number;
  /** Path → dialect. */
  readonly dialects: ReadonlyMap<string, Dialect>;
  /** Path → question about a call that is answered without making the call. */
  readonly questions: ReadonlyMap<string, Question>;
  /** How the session behind a request of `path` is admitted; null: it carries none, or the path takes keys only. */
  bySession(path: string, request: FastifyRequest): BySession | null;
  /** The grant behind the credential of a run, and what its answers are sealed with. */
  byRun(credential: string): Promise<{ grant: Grant; secret: string }>;
  /** While true, new calls are refused and connections closed. */
  draining(): boolean;
}

function versionOf(headers: IncomingMessage['headers'], grant: Grant): Grant {
  const version = headers['svc-version'];
  if (version === undefined || version === grant.svc_version) return grant;
  if (typeof version === 'string' && (svcVersions as readonly string[]).includes(version))
    return { ...grant, svc_version: version };
  throw new ServiceError('unsupported_version', 'This svc-version is not known.', {
    param: 'svc-version',
    details: { supported: [...svcVersions] },
  });
}

/** By the time that the key's memory holds, so that no call asks. @throws ServiceError org_inactive from `end` on. */
function refuseUnacceptedCalls(end: Date): void {
  if (nowMs() < end.getTime()) return;
  throw new ServiceError(
    'org_inactive',
    'The terms in force have waited too long to be accepted. An owner accepts them in the console under Legal.',
    { details: { reason: 'legal' } },
  );
}

/** Finds what the session behind a request may ask. */
type BySession = () => Promise<Grant>;

class InferenceRequest {
  private readonly deps: InferenceRoutesDeps;
  private readonly insistence: Insistence;
  private readonly dialect: Dialect;
  /** Null when the request is a call. */
  private readonly question: Question | null;
  private readonly path: string;
  private readonly request: IncomingMessage;
  private readonly response: ServerResponse;
  private readonly id: RequestId;
  private readonly by_session: BySession | null;
  private secret = '';
  /** Set for calls of a run, which always have one. */
  private cost_cap: MicroUsd | null = null;
  /** Set once the key is found; from then on a refusal is recorded in a request row. */
  private grant: Grant | null = null;
  private place: LimitSlot | null = null;
  private gauges: Gauges | null = null;

  constructor(
    deps: InferenceRoutesDeps,
    insistence: Insistence,
    route: { path: string; dialect: Dialect; question: Question | null },
    http: {
      id: RequestId;
      request: IncomingMessage;
      response: ServerResponse;
      /** Null: by a key. */
      by_session: BySession | null;
    },
  ) {
    this.deps = deps;
    this.insistence = insistence;
    this.path = route.path;
    this.dialect = route.dialect;
    this.question = route.question;
    this.id = http.id;
    this.request = http.request;
    this.response = http.response;
    this.by_session = http.by_session;
  }

  start(): void {
    const { deps } = this;
    if (deps.draining() || deps.calls.ticker.size >= deps.max_calls) {
      return this.fail(
        new ServiceError('overloaded', 'The gateway accepts no new calls at the moment; try again.'),
        true,
      );
    }
    let grant: Grant | Promise<Grant>;
    try {
      grant = this.by_session === null ? this.byKey() : this.by_session();
    } catch (error) {
      return this.fail(error);
    }
    if (grant instanceof Promise) {
      grant
        .then(
          (found) => this.admitted(found),
          (error) => this.fail(error),
        )
        .catch((error) => this.breakOff(error));
    } else {
      this.admitted(grant);
    }
  }

  private byKey(): Grant | Promise<Grant> {
    this.secret = credentialOf(this.request, true);
    if (this.secret.startsWith(RUN_PREFIX)) return this.byRun();
    const grant = this.deps.keys.verify(this.secret);
    return grant instanceof Promise ? grant.then((found) => this.mayInfer(found)) : this.mayInfer(grant);
  }

  private async byRun(): Promise<Grant> {
    this.cost_cap = costCapOf(this.request.headers);
    const { grant, secret } = await this.deps.byRun(this.secret);
    this.secret = secret;
    this.grant = grant;
    return grant;
  }

  private mayInfer(found: KeyGrant): Grant {
    // Questions have no request row, whether answered or refused.
    if (this.question === null) this.grant = found;
    if (found.scopes.includes('inference')) {
      if (found.calls_end_at !== null) refuseUnacceptedCalls(found.calls_end_at);
      return found;
    }
    throw new ServiceError('permission_denied', 'This key lacks the scope "inference".', {
      details: { scope: 'inference' },
    });
  }

  private admitted(found: Grant): void {
    const { deps, request } = this;
    let grant: Grant;
    try {
      grant = versionOf(request.headers, found);
      const type = request.headers['content-type'];
      if (type !== undefined && !/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
        throw new ServiceError('unsupported_media_type', 'Send the body as application/json.');
      }
    } catch (error) {
      return this.fail(error);
    }
    // Before the body is read, so that refusing a caller over the limit costs almost nothing.
    const subject = this.question === null ? subjectOf(grant) : requestSubjectOf(grant);
    const entered = deps.limits.enter(subject);
    if (entered instanceof Promise) {
      entered
        .then(
          (found) => this.entered(grant, found),
          (error) => this.fail(error),
        )
        .catch((error) => this.breakOff(error));
    } else this.entered(grant, entered);
  }

  private entered(grant: Grant, entered: LimitSlot | LimitRefusal): void {
    this.gauges = entered.gauges;
    if (isRefusal(entered)) {
      const refused = planSubject(grant.org_id, grant.environment);
      return this.insistence.refuse(refused, () => this.answerRefusal(entered));
    }
    // A question does not count as a running call.
    if (this.question !== null) entered.leave();
    this.place = entered;
    readBody(this.request, this.deps.max_body_bytes, grant.org_id, {
      done: (body) => this.call(grant, entered, body),
      failed: (error) => this.fail(error),
      left: () => entered.leave(),
      came: (bytes) => entered.weigh(bytes),
    });
  }

  private answerRefusal(refusal: LimitRefusal): void {
    try {
      this.fail(limitError(refusal));
    } catch (error) {
      this.breakOff(error);
    }
  }

  private call(grant: Grant, place: LimitSlot, { bytes, in_slices, members, top }: Body): void {
    if (this.response.destroyed) return place.leave();
    const incoming = {
      request_id: this.id,
      dialect: this.dialect,
      grant,
      body: bytes,
      in_slices,
      members,
      top,
      headers: this.request.headers as Record<string, string | undefined>,
      secret: this.secret,
      path: this.path,
      client_ip_prefix: networkPrefix(this.request.socket.remoteAddress),
      cost_cap_micro_usd: this.cost_cap,
      place,
    };
    // Before anything else reads the body. Where nothing is to be redacted the same object is returned without
    // waiting.
    let redacted: Incoming | Promise<Incoming>;
    try {
      redacted = redactIncoming(incoming);
    } catch (error) {
      return this.fail(error);
    }
    if (!(redacted instanceof Promise)) return this.run(redacted);
    redacted
      .then(
        (incoming) => this.run(incoming),
        (error) => this.fail(error),
      )
      .catch((error) => this.breakOff(error));
  }

  private run(incoming: Incoming): void {
    const sink = new ResponseSink(this.response);
    // The client may have disconnected during redaction; no event of the response will say so afterwards.
    if (this.response.destroyed) return incoming.place.leave();
    if (this.question === null) startCall(this.deps.calls, incoming, sink);
    else void answerQuestion(this.deps.calls, this.question, incoming, sink);
  }

  private fail(error: unknown, close = false): void {
    this.place?.leave();
    let refusal: ServiceError;
    if (error instanceof ServiceError) refusal = error;
    else {
      this.deps.log.error({ request_id: this.id, error }, 'inference request failed');
      refusal = new ServiceError('internal', 'The gateway failed. Nothing was charged; try again.');
    }
    const { request, response } = this;
    if (!response.headersSent && !response.destroyed) {
      const early = {
        request_id: this.id,
        dialect: this.dialect,
        grant: this.grant,
        headers: request.headers as Record<string, string | undefined>,
        path: this.path,
        client_ip_prefix: networkPrefix(request.socket.remoteAddress),
        close,
        gauges: this.gauges,
      };
      refuseRequest(this.deps.calls, early, refusal, new ResponseSink(response));
    }
    // What came for nothing counts against the key like what was read.
    dropRest(this.request, (bytes) => this.place?.weigh(bytes));
  }

  /**
   * After an unexpected error: sends an error if no answer has begun, otherwise cuts the connection. Never throws.
   */
  private breakOff(error: unknown): void {
    const { response } = this;
    try {
      if (!response.headersSent) return this.fail(error, true);
      this.place?.leave();
      this.deps.log.error({ request_id: this.id, error }, 'inference request failed');
    } catch (again) {
      this.deps.log.error({ request_id: this.id, error: again }, 'inference refusal failed');
    }
    response.destroy();
  }
}

/** Registers POST on `app` for each path of calls and of questions. Fastify does not parse the bodies. */
export function bindInference(app: FastifyInstance, deps: InferenceRoutesDeps): void {
  void app.register(async (scope) => {
    const insistence = new Insistence();
    const calls = [...deps.dialects].map(([path, dialect]) => ({ path, dialect, question: null }));
    const questions = [...deps.questions].map(([path, question]) => {
      return { path, dialect: question.dialect, question };
    });
    for (const route of [...calls, ...questions]) {
      // The request is taken over in the first hook, which never continues, so Fastify reads neither content type nor
      // body.
      const onRequest: onRequestHookHandler = (request, reply) => {
        reply.hijack();
        const { raw } = request;
        const by_session = deps.bySession(route.path, request);
        const { origin } = raw.headers;
        if (origin !== undefined && by_session !== null && scope.console_origins.has(origin)) {
          for (const [name, value] of Object.entries(consoleHeaders(origin)))
            reply.raw.setHeader(name, value);
        } else if (origin !== undefined) {
          reply.raw.setHeader('access-control-allow-origin', '*');
          reply.raw.setHeader('access-control-expose-headers', '*');
        }
        const http = { id: request.id as RequestId, request: raw, response: reply.raw, by_session };
        new InferenceRequest(deps, insistence, route, http).start();
      };
      scope.post(route.path, { onRequest }, (_request, reply) => reply);
    }
  });
}
