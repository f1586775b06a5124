// Classifies Bedrock's exceptions, as HTTP errors and inside a stream (docs/outcomes.md#faults-of-a-provider).
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { FaultClass, UpstreamFault } from '../../../canonical/types.ts';
import { classOfStatus, generalClass } from '../../../upstream/status.ts';

const MESSAGE_MAX = 2_000;

/** By exception, in lower case and without `Exception`. */
const byName: Readonly<Record<string, FaultClass>> = {
  validation: 'client',
  serialization: 'client',
  accessdenied: 'auth',
  unrecognizedclient: 'auth',
  invalidsignature: 'auth',
  signaturedoesnotmatch: 'auth',
  incompletesignature: 'auth',
  invalidclienttokenid: 'auth',
  missingauthenticationtoken: 'auth',
  missingauthentication: 'auth',
  expiredtoken: 'auth',
  expired: 'auth',
  optinrequired: 'auth',
  throttling: 'rate_limit',
  toomanyrequests: 'rate_limit',
  servicequotaexceeded: 'quota',
  resourcenotfound: 'model_missing',
  modeltimeout: 'timeout',
  modelnotready: 'overloaded',
  serviceunavailable: 'overloaded',
  internalserver: 'server',
  internalfailure: 'server',
  modelerror: 'server',
  modelstreamerror: 'server',
};

const CONTEXT =
  /input is too long|prompt is too long|too many input tokens|maximum (?:context|input|tokens)|context (?:window|length|limit)|exceeds? the (?:model|maximum)/i;
const FILTER =
  /content filter(?:ing|ed)?|blocked by (?:our |the )?(?:content|guardrail)|guardrail (?:was )?intervened/i;
const MODEL =
  /model identifier is invalid|on-demand throughput|model (?:version )?has reached the end|model (?:is )?not (?:found|supported)|legacy/i;
/** The account lacks access to this one model; its key works for others and must not be parked. */
const MODEL_ACCESS =
  /access to (?:the|this) model|model access|not authorized to (?:access|invoke) (?:this|the) model/i;
const DAILY = /per day|daily/i;

interface Reported {
  /** Name of the exception as the provider spells it, or ''. */
  name: string;
  message: string;
}

/** The name within `com.amazonaws…#ThrottlingException:http://…`. */
function bareName(name: string): string {
  return name.replace(/^.*#/, '').replace(/:.*$/, '').trim();
}

function text(object: JsonObject, ...names: string[]): string {
  for (const name of names) {
    const value = object[name];
    if (typeof value === 'string') return value;
  }
  return '';
}

function reported(header: string | undefined, body: unknown): Reported {
  const object = isObject(body) ? body : {};
  const name = bareName(header ?? text(object, '__type', 'code'));
  return { name, message: text(object, 'message', 'Message', 'originalMessage').slice(0, MESSAGE_MAX) };
}

function classOf(status: number, { name, message }: Reported): FaultClass {
  const key = name.toLowerCase().replace(/(?:exception|error)$/, '');
  const named = Object.hasOwn(byName, key) ? byName[key] : undefined;
  const base = named ?? classOfStatus(status) ?? generalClass(status);
  if (base === 'client') {
    if (CONTEXT.test(message)) return 'context_length';
    if (MODEL.test(message)) return 'model_missing';
    return FILTER.test(message) ? 'content_filter' : 'client';
  }
  if (base === 'auth') return MODEL_ACCESS.test(message) ? 'model_missing' : 'auth';
  if (base === 'rate_limit' && DAILY.test(message)) return 'quota';
  return base;
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

function retryAfter(headers: Readonly<Record<string, string>>): { retry_after_ms?: number } {
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? { retry_after_ms: Math.ceil(seconds * 1_000) } : {};
}

function faultOf(status: number, words: Reported): UpstreamFault {
  const type = words.name === '' ? {} : { type: words.name };
  return { class: classOf(status, words), status, message: words.message, ...type };
}

/** Class of a non-2xx answer. For a 2xx body that is not a stream: what its exception says, otherwise `protocol`. */
export function classifyAnswer(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): UpstreamFault {
  const words = reported(headers['x-amzn-errortype'], parse(body));
  if (status >= 200 && status < 300) {
    if (words.name !== '') return { ...streamFault(words.name, parse(body)), ...retryAfter(headers) };
    return { class: 'protocol', status, message: 'the answer is not an event stream' };
  }
  return { ...faultOf(status, words), ...retryAfter(headers) };
}

/** The fault of exception `name` inside a 200; `inner` is the class that it would have had as an HTTP answer. */
export function streamFault(name: string, body: unknown): UpstreamFault {
  const words = reported(name, body);
  const fault = faultOf(200, words);
  return { ...fault, class: 'stream', inner: fault.class };
}
