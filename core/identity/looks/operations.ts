// The operations of looks: staff begin one, a browser opens it.
import { Type } from 'typebox';
import { idOf, lineOf, named, operation, Time } from '../../kernel/index.ts';
import { SignedInView, signedInExample, TransportIn } from '../schema.ts';
import { sessionCookie } from '../sessions/token.ts';
import { viewLook } from '../view.ts';
import { beginLook, callerOfLook, openLook } from './look.ts';

export const beginLookOperation = operation({
  name: 'staff.looks.begin',
  method: 'POST',
  path: '/staff/orgs/:id/looks',
  summary: 'Look at an organization as its people see it: half an hour, read only, in its audit log',
  audience: { kind: 'staff', roles: ['support', 'finance', 'compliance'] },
  input: Type.Object({ id: idOf('org'), reason: lineOf(500) }),
  output: Type.Object({
    url: Type.String({ description: 'opens the look, once and within a minute' }),
    expires_at: Time,
  }),
  errors: [],
  example: {
    url: `https://console.example.com/look#svc-sess-${'A'.repeat(43)}`,
    expires_at: '2026-11-21T10:30:00.000Z',
  },
  async run(context, { id, reason }) {
    const { token, expires_at } = await beginLook(context, { org_id: id, reason });
    return {
      url: `${context.services.sign_in.console_url}/look#${token}`,
      expires_at: expires_at.toISOString(),
    };
  },
});

export const openLookOperation = operation({
  name: 'auth.look',
  method: 'POST',
  path: '/v1/auth/look',
  summary: 'Open the link of a look that a member of staff has begun',
  audience: { kind: 'public' },
  input: Type.Object({ token: Type.String({ maxLength: 128 }), transport: TransportIn }),
  output: named(
    'LookOpened',
    Type.Object({
      token: Type.Optional(Type.String({ description: 'shown once; with transport bearer alone' })),
      session: SignedInView,
    }),
  ),
  errors: ['token_invalid', 'csrf_failed'],
  request: { token: `svc-sess-${'A'.repeat(43)}` },
  example: { session: signedInExample },
  async run(context, { token: link, transport }) {
    const { token, look } = await openLook(context, link);
    const caller = callerOfLook(look, { token_hash: Buffer.alloc(0), environment: 'live' });
    const session = await viewLook(context, caller);
    if (transport === 'bearer') return { token, session };
    const seconds = (look.expires_at.getTime() - context.now().getTime()) / 1_000;
    context.header('set-cookie', sessionCookie(context.services.sign_in.cookies, 'session', token, seconds));
    return { session };
  },
});
