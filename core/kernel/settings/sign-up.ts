// Settings of what is open to everybody: who may make an account, what keeps programs from it, and which figures are shown.
import { address, count, oneOf, optional } from '../config-values.ts';
import { setting } from './setting.ts';

const signUpModes = ['closed', 'invite', 'open'] as const;
const challenges = ['none', 'turnstile', 'hcaptcha'] as const;
/** `closed`: by invitation or approval; `invite`: with a code as well; `open`: everybody. */
export type SignUpMode = (typeof signUpModes)[number];

export const signUpSettings = {
  signup: setting<SignUpMode>(
    'SVC_SIGNUP',
    'who may make an account: closed (by invitation or approval), invite (with a code as well), open',
    'closed',
    oneOf(signUpModes),
  ),
  challenge: setting<(typeof challenges)[number]>(
    'SVC_CHALLENGE',
    'bot challenge before an account is asked for: none, turnstile or hcaptcha',
    'none',
    oneOf(challenges),
  ),
  challenge_site_key: setting(
    'SVC_CHALLENGE_SITE_KEY',
    'site key of the challenge, shown to browsers',
    null,
    optional,
  ),
  challenge_secret: setting('SVC_CHALLENGE_SECRET', 'secret key of the challenge', null, optional, true),
  challenge_url: setting(
    'SVC_CHALLENGE_URL',
    'where answers to the challenge are verified; unset: at its provider',
    null,
    address,
  ),
  public_min_orgs: setting(
    'SVC_PUBLIC_MIN_ORGS',
    'organizations that must stand behind a count of calls before everybody sees it',
    3,
    count(1, 1_000),
  ),
} as const;
