// What sign-in needs to know of the installation: cookie policy, console origins, proxies.
import { type Config, ConfigError, type SignUpMode } from '../kernel/index.ts';
import { type CookiePolicy, cookiePolicy } from './sessions/token.ts';
import { type Challenge, challengeOf } from './sign-up/challenge.ts';

export interface SignInSettings {
  readonly cookies: CookiePolicy;
  /** Public address without a slash at its end: identity providers send people back to it. */
  readonly base_url: string;
  /** Where people of customers have their console, without a slash at its end; links of staff lead there. */
  readonly console_url: string;
  /** Origins whose pages may write with a session cookie. */
  readonly console_origins: readonly string[];
  /** Origins whose pages may write with a staff cookie: those of the staff listener alone. */
  readonly staff_origins: readonly string[];
  readonly trusted_proxies: readonly string[];
  /** Who may make an account. */
  readonly signup: SignUpMode;
  /** What keeps programs from asking for accounts; null: nothing. */
  readonly challenge: Challenge | null;
}

declare module '../kernel/operation/operation.ts' {
  interface Services {
    readonly sign_in: SignInSettings;
  }
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
/** A server that listens on every address does not know by which name people reach it. */
const ANYWHERE = /^(?:0\.0\.0\.0|\[::\])$/;

type Facts = Pick<
  Config,
  | 'admin_port'
  | 'staff_port'
  | 'base_url'
  | 'console_origins'
  | 'trusted_proxies'
  | 'allow_insecure_cookies'
  | 'signup'
  | 'challenge'
  | 'challenge_site_key'
  | 'challenge_secret'
  | 'challenge_url'
>;

function local(port: number): string[] {
  return [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
}

/**
 * The sign-in settings of a program reached at `base_url`. Cookies are bound to https unless the address is http on
 * loopback or insecure cookies are allowed.
 * @throws ConfigError for http:// beyond loopback without SVC_ALLOW_INSECURE_COOKIES, and for a challenge without keys.
 */
export function signInSettings(config: Facts, base_url: string): SignInSettings {
  const { protocol, hostname } = new URL(base_url);
  const is_plain = protocol === 'http:' && !ANYWHERE.test(hostname);
  if (is_plain && !LOOPBACK.test(hostname) && !config.allow_insecure_cookies) {
    throw new ConfigError([
      `SVC_BASE_URL: ${base_url} would send session cookies in the clear; use https, or set ` +
        'SVC_ALLOW_INSECURE_COOKIES=1 where only trusted machines can listen',
    ]);
  }
  const own = config.base_url === null ? [] : [new URL(config.base_url).origin];
  const [console_url = base_url] = config.console_origins ?? local(config.admin_port);
  return {
    cookies: cookiePolicy(!is_plain),
    ...{ base_url: base_url.replace(/\/+$/, ''), console_url: console_url.replace(/\/+$/, '') },
    console_origins: config.console_origins ?? [...local(config.admin_port), ...own],
    staff_origins: local(config.staff_port),
    trusted_proxies: config.trusted_proxies ?? [],
    signup: config.signup,
    challenge: challengeOf(config),
  };
}
