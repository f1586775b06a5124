// Mails to a person: how they come in, and what happened to their account.
import { Type } from 'typebox';
import { lineOf, TimeIn } from '../../kernel/index.ts';
import { action, facts, note, text, timeText } from '../content.ts';
import { DAY, DAYS_3, template } from './define.ts';

const org = lineOf(200);
const yours = 'because an account with this address asked for it';
const NOT_YOU =
  'If this was not you, do nothing: the link does no harm unless it is opened, and ends by itself.';

const invitation = template({
  data: Type.Object({ org, inviter: lineOf(254), role: lineOf(40), expires_at: TimeIn }),
  sample: {
    org: 'Acme',
    inviter: 'asha@acme.example',
    role: 'developer',
    expires_at: '2026-11-28T10:00:00.000Z',
  },
  lives_hours: DAYS_3,
  duty: 'courtesy',
  secret: true,
  content: (d, link) => ({
    subject: `${d.inviter} invites you to ${d.org}`,
    preview: `You would join as ${d.role}.`,
    title: `Join ${d.org}`,
    blocks: [
      text(`${d.inviter} invites you to work in ${d.org}.`),
      facts({ Role: d.role, 'Valid until': timeText(d.expires_at) }),
      action('Accept the invitation', link),
      note('If you do not know the sender, do nothing.'),
    ],
    reason: `because ${d.inviter} gave us this address`,
  }),
});

const email_verification = template({
  data: Type.Object({
    ...{ name: lineOf(120), expires_at: TimeIn },
    // The reseller at whose storefront the account was asked for: nobody is a member of anything yet.
    seller_id: Type.Optional(Type.String()),
  }),
  sample: { name: 'Asha', expires_at: '2026-11-22T10:00:00.000Z' },
  lives_hours: DAY,
  duty: 'security',
  secret: true,
  content: (d, link) => ({
    subject: 'Confirm your e-mail address',
    preview: 'Then your account is ready.',
    title: 'Confirm your e-mail address',
    blocks: [
      text(
        `An account was asked for with this address, in the name of ${d.name}. Press the button and enter the password that was chosen, to confirm that this is you and that the address is yours. The link is valid until ${timeText(d.expires_at)}.`,
      ),
      action('Confirm the address', link),
      note(NOT_YOU),
    ],
    reason: yours,
  }),
});

const email_change = template({
  data: Type.Object({ name: Type.String({ maxLength: 120 }), expires_at: TimeIn }),
  sample: { name: 'Asha', expires_at: '2026-11-22T10:00:00.000Z' },
  lives_hours: DAY,
  duty: 'security',
  secret: true,
  content: (d, link) => ({
    subject: 'Confirm your new e-mail address',
    preview: 'Then you sign in with it.',
    title: 'Confirm your new e-mail address',
    blocks: [
      text(
        `This address was named as the new one of ${d.name === '' ? 'an account' : d.name}. Press the button and enter the password of the account, to confirm that the address is yours. The link is valid until ${timeText(d.expires_at)}.`,
      ),
      action('Confirm the address', link),
      note(NOT_YOU),
    ],
    reason: yours,
  }),
});

const email_changed = template({
  data: Type.Object({ at: TimeIn }),
  sample: { at: '2026-11-21T10:00:00.000Z' },
  lives_hours: DAYS_3,
  duty: 'security',
  content: (d) => ({
    subject: 'Your e-mail address was changed',
    preview: 'You sign in with another address now.',
    title: 'Your e-mail address was changed',
    blocks: [
      text(
        `Your account has had another e-mail address since ${timeText(d.at)}, and every session was ended. It was confirmed with your password.`,
      ),
      note('If this was not you, write to support at once: your password is known to somebody else.'),
    ],
    reason: 'because this concerns the safety of your account',
  }),
});

const account_exists = template({
  data: Type.Object({}),
  sample: {},
  lives_hours: DAY,
  duty: 'security',
  content: () => ({
    subject: 'You have an account already',
    preview: 'Sign in, or set a new password.',
    title: 'You have an account already',
    blocks: [
      text(
        'Somebody asked for an account with this address. There is one already, and nothing about it has changed. Sign in with it; if you have forgotten the password, set a new one.',
      ),
      action('Sign in', '/sign-in'),
      note('If this was not you, do nothing.'),
    ],
    reason: yours,
  }),
});

const password_reset = template({
  data: Type.Object({ expires_at: TimeIn }),
  sample: { expires_at: '2026-11-21T10:30:00.000Z' },
  // The link itself lives half an hour.
  lives_hours: 0.5,
  duty: 'security',
  secret: true,
  content: (d, link) => ({
    subject: 'Set a new password',
    preview: 'The link is valid for half an hour.',
    title: 'Set a new password',
    blocks: [
      text(
        `Press the button to set a new password. The link works once, until ${timeText(d.expires_at)}. Every session of yours ends then.`,
      ),
      action('Set a new password', link),
      note(NOT_YOU),
    ],
    reason: yours,
  }),
});

const password_reset_sso = template({
  data: Type.Object({ org }),
  sample: { org: 'Acme' },
  lives_hours: DAY,
  duty: 'security',
  content: (d) => ({
    subject: 'You sign in through your organization',
    preview: `${d.org} manages sign-in for this address.`,
    title: 'You sign in through your organization',
    blocks: [
      text(
        `You asked to set a new password. ${d.org} manages sign-in for this address, so there is no password here to be set.`,
      ),
      action('Sign in', '/sign-in'),
    ],
    reason: yours,
  }),
});

const recovery_code_used = template({
  data: Type.Object({ at: TimeIn, left: Type.Integer({ minimum: 0 }) }),
  sample: { at: '2026-11-21T10:00:00.000Z', left: 7 },
  lives_hours: DAY,
  duty: 'security',
  content: (d) => ({
    subject: 'A recovery code was used',
    preview: `${d.left} are left.`,
    title: 'A recovery code was used',
    blocks: [
      text('Somebody signed in to your account with your password and one of your recovery codes.'),
      facts({ When: timeText(d.at), 'Codes left': String(d.left) }),
      text('If this was not you, set a new password and a new second factor now.'),
      action('Open your profile', '/profile'),
    ],
    reason: 'because this concerns the safety of your account',
  }),
});

const sign_in_locked = template({
  data: Type.Object({ until: TimeIn }),
  sample: { until: '2026-11-21T10:15:00.000Z' },
  lives_hours: 4,
  duty: 'security',
  content: (d) => ({
    subject: 'Sign-in to your account is paused',
    preview: 'Too many wrong passwords or codes.',
    title: 'Sign-in to your account is paused',
    blocks: [
      text(
        `Somebody entered a wrong password or code many times. New sign-ins are refused until ${timeText(d.until)}; sessions that are open go on.`,
      ),
      text('If this was not you, your password held. Set a new one if it is used anywhere else.'),
    ],
    reason: 'because this concerns the safety of your account',
  }),
});

const access_approved = template({
  data: Type.Object({ name: lineOf(120), expires_at: TimeIn }),
  sample: { name: 'Asha', expires_at: '2026-11-24T10:00:00.000Z' },
  lives_hours: DAYS_3,
  duty: 'courtesy',
  secret: true,
  content: (d, link) => ({
    subject: 'Your access is ready',
    preview: 'Set a password and begin.',
    title: `Welcome, ${d.name}`,
    blocks: [
      text(
        `Your request for access was approved. Set a password to begin; the link is valid until ${timeText(d.expires_at)}.`,
      ),
      action('Set a password', link),
    ],
    reason: 'because you asked for access with this address',
  }),
});

const access_declined = template({
  data: Type.Object({ name: lineOf(120) }),
  sample: { name: 'Asha' },
  lives_hours: DAYS_3,
  duty: 'courtesy',
  content: (d) => ({
    subject: 'Your request for access',
    preview: 'We cannot open an account for you now.',
    title: `Hello ${d.name}`,
    blocks: [text('Thank you for asking. We cannot open an account for you now. You may ask again later.')],
    reason: 'because you asked for access with this address',
  }),
});

const waitlist_invited = template({
  data: Type.Object({}),
  sample: {},
  lives_hours: DAYS_3,
  duty: 'courtesy',
  content: () => ({
    subject: 'You can create an organization now',
    preview: 'Your place on the waitlist has come up.',
    title: 'You can create an organization now',
    blocks: [text('Your place on the waitlist has come up.'), action('Create an organization', '/')],
    reason: 'because you joined the waitlist',
  }),
});

export const accountMails = {
  invitation,
  email_verification,
  email_change,
  email_changed,
  account_exists,
  password_reset,
  password_reset_sso,
  recovery_code_used,
  sign_in_locked,
  access_approved,
  access_declined,
  waitlist_invited,
};
