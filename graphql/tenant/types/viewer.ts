// The person or the key that asks.
import type { Caller } from '@svc/core/kernel/index.ts';
import { builder, derive } from '../builder.ts';
import { RoleEnum, ScopeEnum } from './common.ts';

const ViewerKind = derive.enum('ViewerKind', ['user', 'key']);

const Viewer = builder.objectRef<Caller>('Viewer').implement({
  description: 'The person or the key that asks.',
  fields: (t) => ({
    kind: t.field({ type: ViewerKind, resolve: ({ kind }) => (kind === 'key' ? 'key' : 'user') }),
    orgId: t.id({
      nullable: true,
      description: 'null until an organization is entered',
      resolve: (caller) => (caller.kind === 'key' || caller.kind === 'session' ? caller.org_id : null),
    }),
    userId: t.id({
      nullable: true,
      description: 'null for a key',
      resolve: (caller) => (caller.kind === 'session' ? caller.user_id : null),
    }),
    email: t.string({
      nullable: true,
      description: 'null for a key',
      resolve: (caller) => (caller.kind === 'session' ? caller.email : null),
    }),
    role: t.field({
      type: RoleEnum,
      nullable: true,
      description: 'null for a key',
      resolve: (caller) => (caller.kind === 'session' ? caller.role : null),
    }),
    twoFactor: t.boolean({
      nullable: true,
      description: 'null for a key',
      resolve: (caller) => (caller.kind === 'session' ? caller.two_factor : null),
    }),
    keyId: t.id({
      nullable: true,
      description: 'null for a person',
      resolve: (caller) => (caller.kind === 'key' ? caller.key_id : null),
    }),
    scopes: t.field({
      type: [ScopeEnum],
      nullable: true,
      description: 'null for a person',
      resolve: (caller) => (caller.kind === 'key' ? [...caller.scopes] : null),
    }),
  }),
});

builder.queryField('viewer', (t) =>
  t.field({
    type: Viewer,
    extensions: { operation: null },
    resolve: (_root, _args, { runner }) => runner.caller,
  }),
);
