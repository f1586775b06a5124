// Turns a GenerateContentResponse, whole or one chunk of many, into canonical events.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { Target } from '../../../canonical/contract.ts';
import { emulatedTools } from '../../../canonical/custom-tools.ts';
import type { CanonicalEvent, CanonicalRequest, UpstreamFault } from '../../../canonical/types.ts';
import { CandidateReader, type ReadingRules } from './candidate.ts';
import { blockIn, errorIn } from './classify.ts';
import { readEarlyUsage, readUsage } from './usage.ts';

/** More answers than any model gives. */
const CANDIDATES_MAX = 64;

const UNSPECIFIED: UpstreamFault = {
  class: 'stream',
  inner: 'server',
  status: 200,
  message: 'The provider ended the answer without content or reason.',
  code: 'FINISH_REASON_UNSPECIFIED',
};

// The answer's text is kept only when the provider may name sources in it.
function rulesOf(request: CanonicalRequest): ReadingRules {
  const keeps_text = request.tools?.some(({ kind }) => kind === 'server') === true;
  return { custom: emulatedTools(request), keeps_text };
}

function queriesIn(candidate: JsonObject): number {
  const grounding = candidate['groundingMetadata'];
  const queries = isObject(grounding) ? grounding['webSearchQueries'] : undefined;
  return Array.isArray(queries) ? queries.length : 0;
}

// The call is charged at the tier that the provider says it used.
function tierOf(wire: unknown): { service_tier?: string } {
  const tier = isObject(wire) ? wire['serviceTier'] : undefined;
  return typeof tier === 'string' && tier !== '' ? { service_tier: tier.toLowerCase() } : {};
}

export class ChunkReader {
  readonly #rules: ReadingRules;
  readonly #candidates: CandidateReader[] = [];
  #started = false;
  /** The last counts reported; they are cumulative. */
  #usage: unknown = null;
  #reported: unknown = null;
  /** Number of queries per candidate: metadata is repeated and grows from chunk to chunk. */
  readonly #queries: number[] = [];
  readonly #one_a_prompt: boolean;
  /** Some candidate has stopped. */
  stopped = false;

  constructor(request: CanonicalRequest, target: Target) {
    this.#rules = rulesOf(request);
    this.#one_a_prompt = target.flags.includes('search_per_prompt');
  }

  /**
   * Adds the events of one chunk. Returns the fault that the chunk reports, after which it is ignored; null when
   * there is none.
   */
  take(data: JsonObject, out: CanonicalEvent[]): UpstreamFault | null {
    const error = errorIn(data);
    if (error !== null) return error;
    if (isObject(data['usageMetadata'])) this.#usage = data['usageMetadata'];
    if (!this.#started) this.#start(data, out);
    const blocked = blockIn(data);
    if (blocked !== null) {
      this.report(out);
      return blocked;
    }
    const candidates = Array.isArray(data['candidates']) ? data['candidates'] : [];
    for (const wire of candidates) {
      if (!isObject(wire)) continue;
      this.#search(wire);
      const before = out.length;
      if (!this.#candidate(wire).take(wire, out)) return UNSPECIFIED;
      if (out.length > before && out.at(-1)?.type === 'stop') this.stopped = true;
    }
    // Counts before the first stop cover only part of the answer; from then on they are what is billed.
    if (this.stopped) this.report(out);
    return null;
  }

  /** Reports the last counts, if they are new. */
  report(out: CanonicalEvent[]): void {
    if (this.#usage === this.#reported) return;
    this.#reported = this.#usage;
    const usage = readUsage(this.#usage);
    if (usage === null) return;
    const searches = this.#searches();
    if (searches > 0) usage.search_units = searches;
    out.push({ type: 'usage', usage, ...tierOf(this.#usage) });
  }

  /** What the provider bills as searches: each query, or before its third generation each prompt that led to one. */
  #searches(): number {
    const queries = this.#queries.reduce((sum, count) => sum + count, 0);
    return this.#one_a_prompt ? Math.min(queries, 1) : queries;
  }

  #search(candidate: JsonObject): void {
    const queries = queriesIn(candidate);
    const at = typeof candidate['index'] === 'number' ? candidate['index'] : 0;
    if (queries <= (this.#queries[at] ?? 0) || at < 0 || at >= CANDIDATES_MAX) return;
    this.#queries[at] = queries;
    // Searches reported after the counts change the bill.
    this.#reported = null;
  }

  /** Closes open parts. */
  close(out: CanonicalEvent[]): void {
    for (const candidate of this.#candidates) candidate?.close(out);
  }

  #start(data: JsonObject, out: CanonicalEvent[]): void {
    this.#started = true;
    const early = readEarlyUsage(data['usageMetadata']);
    out.push({
      type: 'start',
      ...(typeof data['modelVersion'] === 'string' ? { upstream_model: data['modelVersion'] } : {}),
      ...(typeof data['responseId'] === 'string' ? { upstream_id: data['responseId'] } : {}),
      ...(early === null ? {} : { usage: early }),
    });
  }

  #candidate(wire: JsonObject): CandidateReader {
    const wire_index = wire['index'];
    const index =
      typeof wire_index === 'number' && wire_index >= 0 && wire_index < CANDIDATES_MAX
        ? Math.floor(wire_index)
        : 0;
    const known = this.#candidates[index];
    if (known !== undefined) return known;
    const candidate = new CandidateReader(index, this.#rules);
    this.#candidates[index] = candidate;
    return candidate;
  }
}
