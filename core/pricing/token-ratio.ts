// How many tokens a text has, as far as an endpoint's own answers show: no tokenizer, and no text is kept.
import { LRUCache } from 'lru-cache';

/** Fewer observations say nothing yet. */
const OBSERVATIONS_MIN = 100;
const DECAY = 0.99;
/** Below this a ratio says more about framing than about text. */
const TOKENS_MIN = 16;
/** What favours the caller: text has fewer bytes a token. */
const BYTES_PER_TOKEN = 6;
/** Text has at most so many bytes a token, in scripts of three bytes a letter. */
const BYTES_PER_TOKEN_MAX = 12;
/** Shorter texts may have any tokens. */
const TELLING_BYTES = 1_024;

/** So that a whole number is not missed by a rounding of its sum. */
const ROUNDING = 1e-6;

/** More than catalogs have endpoints. */
const ENDPOINTS_MAX = 20_000;

/** What was produced of an answer. */
export interface Produced {
  /** Of text, reasoning and arguments. */
  readonly bytes: number;
  /** Events of its stream that held any of them; 0 of an answer that came whole. */
  readonly events: number;
  /** The stream came to its end, so that its last event may hold fewer tokens than the others. */
  readonly ended?: boolean;
}

/** Whether `bytes` of text are more than `tokens` can hold. */
export function isTooLong(bytes: number, tokens: number): boolean {
  return bytes > TELLING_BYTES && bytes > tokens * BYTES_PER_TOKEN_MAX;
}

/** Tokens of one unit, a decaying average over answers, and how far it has been from their counts. */
class Average {
  private seen = 0;
  private units = 0;
  private tokens = 0;
  private roots = 0;
  /** Tokens that it was wrong by, either way. */
  private off = 0;

  observe(units: number, tokens: number): void {
    const expected = this.units === 0 ? tokens : (units * this.tokens) / this.units;
    this.off = this.off * DECAY + Math.abs(tokens - expected);
    this.units = this.units * DECAY + units;
    this.roots = this.roots * DECAY + Math.sqrt(units);
    this.tokens = this.tokens * DECAY + tokens;
    this.seen++;
  }

  get known(): boolean {
    return this.seen >= OBSERVATIONS_MIN;
  }

  /** Tokens of one unit that are certain: a content event has one, unless answers tell that tokens come in parts. */
  get least(): number {
    return this.known ? Math.min(1, this.tokens / this.units) : 1;
  }

  /**
   * Tokens of so many units, less what the average is usually wrong by: in proportion where one text differs from the
   * next, and by the square root where each unit does, which tells in short texts.
   */
  count(units: number): number {
    const off = this.off * Math.max(units / this.units, Math.sqrt(units) / this.roots);
    return Math.max(0, (units * this.tokens) / this.units - off);
  }
}

/**
 * Counts what an endpoint delivered where it reports no usage: of a stream that its caller left above all. Learnt from
 * its settled answers are tokens per byte and tokens per content event, each lowered by what it is usually wrong by;
 * the larger of the two counts. Where an event is a token the second is exact, whatever is written; where events hold
 * several tokens the first may know better. An event has at least a token; until there are 100 answers that, or six
 * bytes a token, is the count.
 */
export class TokenRatio {
  private readonly bytes = new Average();
  private readonly events = new Average();
  private readonly prompts = new Average();

  /** Learns from a settled answer whose usage the provider reported. A text longer than its tokens teaches nothing. */
  observe({ bytes, events }: Produced, tokens: number): void {
    if (tokens < TOKENS_MIN || bytes <= 0 || isTooLong(bytes, tokens)) return;
    this.bytes.observe(bytes, tokens);
    if (events > 0) this.events.observe(events, tokens);
  }

  /** Learns from a prompt of text. */
  observePrompt(bytes: number, tokens: number): void {
    if (tokens >= TOKENS_MIN && bytes > 0) this.prompts.observe(bytes, tokens);
  }

  /** Tokens that were produced, rounded down, but never 0 where anything was. */
  count({ bytes, events, ended = false }: Produced): number {
    if (bytes <= 0) return 0;
    const last = ended && events > 0 ? 1 : 0;
    const by_bytes = this.bytes.known ? this.bytes.count(bytes) : bytes / BYTES_PER_TOKEN;
    const full = this.events.known ? this.events.count(events - last) + last * this.events.least : 0;
    const by_events = Math.max(events * this.events.least, full);
    // A stream may have ended within a token; what came whole has its last one.
    const whole = events === 0 ? Math.ceil(by_bytes) : Math.floor(by_bytes);
    // No token is less than a byte.
    return Math.min(bytes, Math.max(1, whole, Math.floor(by_events + ROUNDING)));
  }

  /** The same of a prompt, of text. */
  countPrompt(bytes: number): number {
    const tokens = this.prompts.known ? this.prompts.count(bytes) : bytes / BYTES_PER_TOKEN;
    return Math.min(bytes, Math.floor(tokens));
  }
}

/**
 * The ratio of each endpoint, which only answers of that endpoint teach. What is forgotten, or not known after a restart,
 * is learnt again from a hundred answers.
 */
export function createTokenRatios(): (endpoint_id: string) => TokenRatio {
  const ratios = new LRUCache<string, TokenRatio>({ max: ENDPOINTS_MAX });
  return (endpoint_id) => {
    let ratio = ratios.get(endpoint_id);
    if (ratio === undefined) {
      ratio = new TokenRatio();
      ratios.set(endpoint_id, ratio);
    }
    return ratio;
  };
}
