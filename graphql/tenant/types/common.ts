// Enums that several types share; imported first, so that derived types find them.
import { scopes } from '@svc/core/kernel/index.ts';
import { derive } from '../builder.ts';

export const EnvironmentEnum = derive.enum('Environment', ['live', 'test']);
export const ScopeEnum = derive.enum('Scope', scopes);
export const RoleEnum = derive.enum('Role', ['owner', 'admin', 'developer', 'billing', 'viewer']);
