// Settings of sign-up: who may make an account.
import { oneOf } from '../config-values.ts';
import { setting } from './setting.ts';

const signUpModes = ['closed', 'invite', 'open'] as const;
/** `closed`: by invitation or approval; `invite`: with a code as well; `open`: everybody. */
export type SignUpMode = (typeof signUpModes)[number];

export const signUpSettings = {
  signup: setting<SignUpMode>(
    'SVC_SIGNUP',
    'who may make an account: closed (by invitation or approval), invite (with a code as well), open',
    'closed',
    oneOf(signUpModes),
  ),
} as const;
