// Questions about a call that do not make the call (dry run, token count). They are free, have no request row, and
// count only as a request per minute. The surface passes them here like calls; each has its own answer.
import type { JsonObject } from '../../../kernel/index.ts';
import type { Dialect } from '../../canonical/contract.ts';
import { refusalFor } from '../answer/defect.ts';
import { sendError } from '../answer/reply.ts';
import type { CallDeps, Incoming, Sink } from '../types.ts';

export interface Question {
  /** Reads the body, and writes errors in its format. */
  readonly dialect: Dialect;
  /** The answer; it may append to the flat list `headers`. @throws ServiceError what the caller is refused with. */
  answer(deps: CallDeps, incoming: Incoming, headers: string[]): Promise<JsonObject>;
}

/** Answers `incoming`; a defect is logged and reported as `internal`. Never rejects. */
export async function answerQuestion(
  deps: CallDeps,
  question: Question,
  incoming: Incoming,
  sink: Sink,
): Promise<void> {
  const { request_id: id, place, grant } = incoming;
  const { gauges } = place;
  try {
    const own: string[] = [];
    const body = Buffer.from(JSON.stringify(await question.answer(deps, incoming, own)));
    const headers = ['content-type', 'application/json', 'content-length', String(body.length)];
    headers.push('x-svc-request-id', id, 'x-request-id', id, 'request-id', id);
    headers.push('svc-version', grant.svc_version, 'x-svc-cost-micro', '0', 'cache-control', 'no-store');
    headers.push('x-content-type-options', 'nosniff', ...own);
    question.dialect.addLimits(headers, gauges);
    sink.head(200, headers);
    sink.end(body);
  } catch (error) {
    const refusal = refusalFor(error, { log: deps.log, request_id: id, body: incoming.body });
    const facts = {
      ...{ request_id: id, base_url: deps.base_url, gauges },
      ...{ attempts: 0, endpoint: null, cost_micro_usd: 0, trace: null },
    };
    sendError(sink, question.dialect, refusal, facts);
  }
}
