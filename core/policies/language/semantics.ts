// What the shape of a policy cannot say: names that exist, shares that add up, rules that can be reached.
import type { Catalog, Endpoint } from '../../catalog/index.ts';
import type { Step } from '../../kernel/index.ts';
import { shareOf } from '../canary.ts';
import { FINDINGS_MAX, type Finding, shown } from '../shape.ts';
import type { Actions, MatchFlat, PolicyDocument, Rule } from '../types.ts';
import { matchesGlob, refusesGlob } from './glob.ts';
import { isTimeZone } from './time.ts';

interface Semantics {
  readonly faults: readonly Finding[];
  /** Worth knowing, but the policy stands. */
  readonly notices: readonly Finding[];
}

/** What an organization may ask for that not every one may. */
export interface Allowed {
  /** The platform pays for its shadows, up to the allowance that staff gave it. */
  readonly shadows_paid: boolean;
}

class Check {
  readonly faults: Finding[] = [];
  readonly notices: Finding[] = [];
  readonly #catalog: Catalog;
  readonly #document: PolicyDocument;
  readonly #allowed: Allowed;
  /** Endpoints on trial, and endpoints that get copies: each is judged by the calls of one rule. */
  readonly #compared = { canary: new Set<string>(), shadow: new Set<string>() };
  /** Experiments: each is compared over the calls of one rule. */
  readonly #experiments = new Set<string>();

  constructor(catalog: Catalog, document: PolicyDocument, allowed: Allowed) {
    this.#catalog = catalog;
    this.#document = document;
    this.#allowed = allowed;
  }

  fault(steps: readonly Step[], message: string): void {
    if (this.faults.length < FINDINGS_MAX) this.faults.push({ steps, message });
  }

  notice(steps: readonly Step[], message: string): void {
    if (this.notices.length < FINDINGS_MAX) this.notices.push({ steps, message });
  }

  run(name: string | null): void {
    const { policy, sort, defaults, rules = [] } = this.#document;
    if (name !== null && policy !== undefined && policy !== name) {
      this.notice(['policy'], `the text names the policy ${policy}; it is stored as ${name}`);
    }
    if (sort !== undefined && defaults?.sort !== undefined) {
      this.notice(['sort'], 'defaults.sort is given too and wins');
    }
    if (defaults !== undefined) this.#actions(defaults, ['defaults']);
    const names = new Set<string>();
    let unconditional: string | null = null;
    rules.forEach((rule, i) => {
      const at = ['rules', i];
      if (rule.name !== undefined) {
        if (names.has(rule.name)) {
          this.fault([...at, 'name'], `${shown(rule.name)} names two rules; expected a name of its own`);
        }
        names.add(rule.name);
      }
      if (unconditional !== null) {
        this.notice(at, `never reached: ${unconditional} matches every call`);
      } else if (isUnconditional(rule)) {
        unconditional = rule.name === undefined ? `rules[${i}]` : `rule ${rule.name}`;
      }
      this.#match(rule.match, [...at, 'match']);
      if (rule.match.not !== undefined) this.#match(rule.match.not, [...at, 'match', 'not']);
      this.#actions(rule, at);
    });
  }

  #match(match: MatchFlat, at: readonly Step[]): void {
    this.#globs(match.models, [...at, 'models']);
    this.#globs(match.model === undefined ? undefined : [match.model], [...at, 'model'], true);
    this.#vendors(match.vendors, [...at, 'vendors']);
    this.#vendors(match.vendor === undefined ? undefined : [match.vendor], [...at, 'vendor'], true);
    for (const key of ['input_tokens', 'max_tokens'] as const) {
      const { min, max } = match[key] ?? {};
      if (min !== undefined && max !== undefined && min > max) {
        this.fault([...at, key], `min ${min} above max ${max}; expected min at most max`);
      }
    }
    for (const [key, globs] of Object.entries(match.metadata ?? {})) {
      globs.forEach((glob, i) => {
        const refused = refusesGlob(glob);
        if (refused !== null) this.fault([...at, 'metadata', key, i], refused);
      });
    }
    const { time } = match;
    if (time === undefined) return;
    if (!isTimeZone(time.tz)) {
      this.fault([...at, 'time', 'tz'], `${shown(time.tz)}; expected a time zone such as Asia/Kolkata`);
    }
    if (time.from !== undefined && time.from === time.to) {
      this.fault([...at, 'time', 'to'], `${shown(time.to)} is also from; expected another time`);
    }
  }

  #globs(globs: readonly string[] | undefined, at: readonly Step[], single = false): void {
    const { models } = this.#catalog;
    globs?.forEach((glob, i) => {
      const steps = single ? at : [...at, i];
      const refused = refusesGlob(glob);
      if (refused !== null) this.fault(steps, refused);
      else if (!glob.includes('*')) {
        if (!models.has(glob)) this.fault(steps, `no model ${shown(glob)}; expected a model of the catalog`);
      } else if (![...models.keys()].some((id) => matchesGlob(glob, id))) {
        this.notice(steps, `${shown(glob)} matches no model of the catalog now`);
      }
    });
  }

  #vendors(vendors: readonly string[] | undefined, at: readonly Step[], single = false): void {
    vendors?.forEach((vendor, i) => {
      const known = [...this.#catalog.models.values()].some((model) => model.vendor === vendor);
      if (!known) this.notice(single ? at : [...at, i], `no model of the catalog is by ${shown(vendor)} now`);
    });
  }

  #actions(actions: Actions, at: readonly Step[]): void {
    this.#endpoints(actions, at);
    actions.fallback_models?.forEach((id, i) => {
      this.#model(id, [...at, 'fallback_models', i]);
    });
    if (actions.weights !== undefined) this.#weights(actions, at);
    this.#traffic(actions, at);
  }

  #weights(actions: Actions, at: readonly Step[]): void {
    const { sort: short, defaults } = this.#document;
    const sort = actions.sort ?? defaults?.sort ?? short ?? 'balanced';
    if (sort !== 'balanced') {
      this.fault([...at, 'weights'], `weights beside sort ${sort}; expected sort balanced`);
    }
    if (!Object.values(actions.weights ?? {}).some((weight) => weight > 0)) {
      this.fault([...at, 'weights'], 'no weight above 0; expected at least one');
    }
  }

  #endpoints(actions: Pick<Actions, 'providers' | 'endpoints'>, at: readonly Step[]): void {
    const { providers, endpoints } = this.#catalog;
    for (const list of ['order', 'only', 'ignore'] as const) {
      actions.providers?.[list]?.forEach((id, i) => {
        if (providers.has(id) || endpoints.has(id)) return;
        this.fault([...at, 'providers', list, i], `no provider ${shown(id)}; expected one of the catalog`);
      });
      actions.endpoints?.[list]?.forEach((id, i) => {
        this.#endpoint(id, [...at, 'endpoints', list, i]);
      });
    }
  }

  #endpoint(id: string, steps: readonly Step[]): Endpoint | null {
    const endpoint = this.#catalog.endpoints.get(id) ?? null;
    if (endpoint === null) this.fault(steps, `no endpoint ${shown(id)}; expected one of the catalog`);
    return endpoint;
  }

  #model(id: string, steps: readonly Step[]): void {
    if (this.#catalog.models.has(id)) return;
    this.fault(steps, `no model ${shown(id)}; expected a model of the catalog`);
  }

  /** Canary, shadow and experiment. */
  #traffic(actions: Actions, at: readonly Step[]): void {
    const { canary, shadow, experiment } = actions;
    if (canary !== undefined) this.#ofOneRule('canary', canary.endpoint, actions, at);
    if (shadow !== undefined) {
      this.#ofOneRule('shadow', shadow.endpoint, actions, at);
      this.#share(shadow.percent, [...at, 'shadow', 'percent']);
      if (shadow.bill === 'platform' && !this.#allowed.shadows_paid) {
        const message = 'platform, but the organization has no shadow allowance; expected org';
        this.fault([...at, 'shadow', 'bill'], message);
      }
    }
    if (experiment !== undefined) this.#experiment(experiment, [...at, 'experiment']);
  }

  /** An endpoint whose calls are compared: it may serve, and what it shows is told of one rule. */
  #ofOneRule(kind: 'canary' | 'shadow', id: string, actions: Actions, at: readonly Step[]): void {
    const steps = [...at, kind, 'endpoint'];
    const endpoint = this.#endpoint(id, steps);
    const reason = endpoint === null ? null : this.#excludedBy(endpoint, actions);
    if (reason !== null) {
      this.fault(steps, `the policy's own ${reason} excludes it; expected an endpoint that may serve`);
    }
    if (this.#compared[kind].has(id)) {
      this.fault(steps, `${shown(id)} is the ${kind} of another rule; expected one rule for each`);
    }
    this.#compared[kind].add(id);
  }

  #share(percent: number, steps: readonly Step[]): void {
    if (Math.abs(percent * 100 - shareOf(percent)) <= 1e-6) return;
    this.fault(steps, `${percent}; expected at most two decimals`);
  }

  #experiment({ name, arms }: NonNullable<Actions['experiment']>, at: readonly Step[]): void {
    if (this.#experiments.has(name)) {
      const message = `${shown(name)} is the experiment of another rule; expected a name of its own`;
      this.fault([...at, 'name'], message);
    }
    this.#experiments.add(name);
    const sum = arms.reduce((total, arm) => total + arm.percent, 0);
    if (Math.abs(sum - 100) > 1e-9) {
      this.fault([...at, 'arms'], `percents sum to ${sum}; expected 100`);
    } else if (arms.length === 1) {
      this.fault([...at, 'arms'], `${arms[0]?.name} alone; expected control and candidate`);
    }
    const seen = new Set<string>();
    arms.forEach((arm, i) => {
      const steps = [...at, 'arms', i];
      if (seen.has(arm.name)) {
        this.fault([...steps, 'name'], `${arm.name} names two arms; expected control and candidate`);
      }
      seen.add(arm.name);
      this.#share(arm.percent, [...steps, 'percent']);
      this.#endpoints(arm, steps);
      if (arm.model !== undefined) this.#model(arm.model, [...steps, 'model']);
    });
  }

  /** Which part of defaults and `actions` keeps `endpoint` out; null where none does. */
  #excludedBy(endpoint: Endpoint, actions: Actions): string | null {
    const named = (ids: readonly string[]) => ids.includes(endpoint.provider) || ids.includes(endpoint.id);
    for (const set of [this.#document.defaults ?? {}, actions]) {
      for (const key of ['providers', 'endpoints'] as const) {
        const { only, ignore } = set[key] ?? {};
        if (only !== undefined && !named(only)) return `${key}.only`;
        if (ignore !== undefined && named(ignore)) return `${key}.ignore`;
      }
      const { require } = set;
      const { zdr, trains, retention_days } = endpoint.data_policy;
      if (require?.zdr === true && !zdr) return 'require.zdr';
      if (require?.no_train === true && trains) return 'require.no_train';
      const days = require?.max_retention_days;
      if (days !== undefined && (retention_days === null || retention_days > days)) {
        return 'require.max_retention_days';
      }
      const { region } = endpoint;
      if (require?.regions?.every((want) => region !== want && !region.startsWith(`${want}-`))) {
        return 'require.regions';
      }
      const quantization = endpoint.quantization ?? 'unknown';
      if (require?.quantizations?.includes(quantization) === false) return 'require.quantizations';
    }
    return null;
  }
}

function isUnconditional(rule: Rule): boolean {
  return rule.continue !== true && Object.keys(rule.match).length === 0;
}

/** What is wrong and what is worth knowing of `document`, stored under `name` (null while it has none). */
export function checkSemantics(
  document: PolicyDocument,
  { catalog, allowed }: { readonly catalog: Catalog; readonly allowed: Allowed },
  name: string | null,
): Semantics {
  const check = new Check(catalog, document, allowed);
  check.run(name);
  return check;
}
