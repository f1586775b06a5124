// Decisions over a thousand endpoints, for the test and the bench figure of their cost.
import type { Endpoint } from '../catalog/index.ts';
import { choose, type RouteInput } from './index.ts';
import { able, catalogOf, endpoint, healthOf, input, model } from './test-kit.ts';

const COUNT = 1_000;
const NOW = 1_000_000;

function endpoints(): Endpoint[] {
  return Array.from({ length: COUNT }, (_, i) =>
    endpoint(
      `p${i}`,
      {
        region: ['us-east', 'eu-west', 'ap-south', 'global'][i % 4] as string,
        quantization: i % 3 === 0 ? 'fp8' : 'bf16',
        capabilities: { ...able, vision: i % 2 === 0 },
        data_policy: { trains: i % 5 === 0, retention_days: i % 7 === 0 ? null : 30, zdr: i % 2 === 0 },
      },
      { input: 1_000 + (i % 40), output: 4_000 + (i % 60) },
    ),
  );
}

/** A process that has seen every endpoint lately, some of them failing. */
function busyHealth() {
  const health = healthOf();
  for (let i = 0; i < COUNT; i++) {
    for (let n = 0; n < 20; n++) {
      health.succeeded(`ep_p${i}`, { ttft_ms: 100 + i, duration_ms: 900 + i, output_tokens: 50 }, NOW);
    }
    if (i % 10 === 0) for (let n = 0; n < 30; n++) health.failed(`ep_p${i}`, 'server', NOW);
  }
  return health;
}

/** One decision of each kind, ready to be taken again and again. */
export function decisions(): Record<string, (request_id: string) => number> {
  const one = model(endpoints());
  const candidates = { catalog: catalogOf(one), models: [one] };
  const rests = () => 0;
  const decide = (over: Partial<RouteInput>) => {
    const asked = input({ now_ms: NOW, rests, ...over });
    return (request_id: string) => choose(candidates, { ...asked, request_id }).plan.length;
  };
  const health = busyHealth();
  const protecting = {
    require: { zdr: true, no_train: true, regions: ['eu', 'us'], quantizations: ['fp8', 'bf16'] },
    providers: { ignore: ['p2', 'p4'], order: ['p18', 'p6'] },
  };
  return {
    'of unknown health': decide({}),
    'of known health': decide({ health }),
    'by price': decide({ health, preferences: { sort: 'price' } }),
    'under many preferences': decide({ health, preferences: protecting }),
    'of which none is left': decide({ health, preferences: { providers: { only: ['none'] } } }),
  };
}

/** Microseconds of the median of `rounds` decisions of each kind, after as many to warm up. */
export function measureDecisions(rounds: number): Record<string, number> {
  const found: Record<string, number> = {};
  for (const [name, decide] of Object.entries(decisions())) {
    const times = new Float64Array(rounds);
    for (let i = 0; i < 2 * rounds; i++) {
      const started = performance.now();
      decide(`request-${i}`);
      times[i % rounds] = (performance.now() - started) * 1_000;
    }
    times.sort();
    found[name] = times[rounds >> 1] as number;
  }
  return found;
}
