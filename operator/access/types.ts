// Project and ApiKey as TypeScript sees them.
import type { Condition, ConditionType, ConnectionSpec, ObjectMeta } from '../types.ts';

export const accessKinds = ['Project', 'ApiKey'] as const;
export type AccessKind = (typeof accessKinds)[number];
export const plurals = { Project: 'projects', ApiKey: 'apikeys' } as const;
export const ACCESS_FINALIZER = 'svc.dev/access';

/** Conditions of both kinds, in the order in which one waits for another. */
export const accessConditions = ['Accepted', 'Synced', 'Ready'] as const satisfies readonly ConditionType[];

export const accessAnnotations = {
  /** Any other value than before: the key is rotated at once. */
  rotate: 'svc.dev/rotate',
  /** On the Secret: which key it holds. */
  key_id: 'svc.dev/key-id',
} as const;

interface StatusBase {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
}

interface LimitsSpec {
  readonly rpm?: number;
  readonly tpm?: number;
  readonly concurrency?: number;
}

interface ProjectSpec {
  readonly connection: ConnectionSpec;
  readonly slug: string;
  readonly displayName?: string;
  readonly environment?: 'live' | 'test';
  readonly budget?: { readonly monthlyMicro?: number; readonly hard?: boolean };
  readonly limits?: LimitsSpec;
  readonly alerts?: readonly number[];
  readonly deletionPolicy?: 'Retain' | 'Archive';
}

export interface ProjectStatus extends StatusBase {
  readonly projectId?: string;
}

interface ObjectBase {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

export interface ProjectObject extends ObjectBase {
  readonly spec: ProjectSpec;
  readonly status?: ProjectStatus;
}

export interface ApiKeySpec {
  readonly connection: ConnectionSpec;
  readonly name?: string;
  readonly projectId?: string;
  readonly projectRef?: { readonly name: string };
  readonly environment?: 'live' | 'test';
  readonly scopes: readonly string[];
  readonly limits?: LimitsSpec;
  readonly budget?: { readonly dailyMicro?: number; readonly hard?: boolean };
  /** Whole hours, `2160h`. */
  readonly expiresIn?: string;
  readonly rotate?: { readonly everyHours?: number; readonly graceSeconds?: number };
  readonly secretRef: { readonly name: string };
}

interface ApiKeyStatus extends StatusBase {
  readonly keyId?: string;
  readonly projectId?: string;
  readonly secretName?: string;
  readonly createdAt?: string;
  readonly expiresAt?: string;
  readonly rotatesAt?: string;
}

export interface ApiKeyObject extends ObjectBase {
  readonly spec: ApiKeySpec;
  readonly status?: ApiKeyStatus;
}

export type AccessObject = ProjectObject | ApiKeyObject;
