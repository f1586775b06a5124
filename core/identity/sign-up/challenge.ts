// The bot challenge before an account is asked for: the console shows the provider's widget, its answer comes in the
// header x-svc-challenge, and the provider says whether it is good. What the provider does not vouch for is refused.
import { type Config, ConfigError, type Context, isObject, ServiceError } from '../../kernel/index.ts';

/** Where each provider verifies answers. @see their pages on server-side verification ("siteverify"). */
const verifiers = {
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  hcaptcha: 'https://api.hcaptcha.com/siteverify',
} as const;
const TIMEOUT_MS = 3_000;
const BYTES_MAX = 65_536;
const ANSWER_MAX = 8_192;
/** Faults of the answer, as the two providers name them. Every other one is ours or theirs. */
const faultsOfAnswer = new Set([
  ...['missing-input-response', 'invalid-input-response', 'timeout-or-duplicate'],
  ...['expired-input-response', 'already-seen-response', 'invalid-or-already-seen-response'],
]);

export interface Challenge {
  readonly provider: keyof typeof verifiers;
  /** Shown to browsers. */
  readonly site_key: string;
  readonly secret: string;
  readonly url: string;
}

type Facts = Pick<Config, 'challenge' | 'challenge_site_key' | 'challenge_secret' | 'challenge_url'>;

/** The challenge that the settings ask for; null: none. @throws ConfigError for one without its keys. */
export function challengeOf(config: Facts): Challenge | null {
  const { challenge: provider, challenge_site_key: site_key, challenge_secret: secret } = config;
  if (provider === 'none') return null;
  if (site_key === null || secret === null)
    throw new ConfigError([
      `SVC_CHALLENGE: ${provider} needs SVC_CHALLENGE_SITE_KEY and SVC_CHALLENGE_SECRET; without them nobody could register`,
    ]);
  return { provider, site_key, secret, url: config.challenge_url ?? verifiers[provider] };
}

type Verdict = 'good' | 'bad' | { readonly unavailable: string };

/** What the provider's reply says. Pure; anything that it does not say plainly counts as no verdict. */
function readVerdict(reply: unknown): Verdict {
  if (!isObject(reply)) return { unavailable: 'the reply is no object' };
  if (reply['success'] === true) return 'good';
  const named: unknown = reply['error-codes'];
  const codes = Array.isArray(named) ? named.map(String) : [];
  if (reply['success'] !== false || codes.length === 0) return { unavailable: 'the reply gives no reason' };
  const others = codes.filter((code) => !faultsOfAnswer.has(code));
  return others.length === 0 ? 'bad' : { unavailable: others.join(', ').slice(0, 200) };
}

async function verify({ url, secret }: Challenge, answer: string, ip: string | null): Promise<Verdict> {
  const form = new URLSearchParams({ secret, response: answer, ...(ip === null ? {} : { remoteip: ip }) });
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const reply = await fetch(url, { method: 'POST', body: form, redirect: 'error', signal });
    if (reply.status >= 500) return { unavailable: `status ${reply.status}` };
    const text = await reply.text();
    if (text.length > BYTES_MAX) return { unavailable: 'the reply is too long' };
    return readVerdict(JSON.parse(text));
  } catch (error) {
    return { unavailable: error instanceof Error ? error.name : 'failed' };
  }
}

/**
 * Lets a caller pass whose answer to the challenge is good; everybody where none is set up.
 * @throws ServiceError challenge_failed, challenge_unavailable.
 */
export async function passChallenge(context: Context): Promise<void> {
  const { challenge } = context.services.sign_in;
  if (challenge === null) return;
  const answer = context.requestHeader('x-svc-challenge') ?? '';
  const verdict: Verdict =
    answer === '' || answer.length > ANSWER_MAX ? 'bad' : await verify(challenge, answer, context.client_ip);
  if (verdict === 'good') return;
  if (verdict === 'bad')
    throw new ServiceError(
      'challenge_failed',
      'Solve the challenge, and send its answer in x-svc-challenge.',
    );
  context.log.warn({ provider: challenge.provider, reason: verdict.unavailable }, 'challenge not verified');
  throw new ServiceError(
    'challenge_unavailable',
    'The challenge cannot be checked now. Try again in a minute.',
  );
}
