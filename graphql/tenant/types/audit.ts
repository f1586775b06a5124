// The audit log. As a file it is REST: `GET /v1/audit-log?format=csv`.
import { AuditEntryView, actorKinds, listAuditOperation } from '@svc/core/identity/index.ts';
import { builder, derive } from '../builder.ts';
import { connectionType, pageField } from '../connection.ts';

derive.enum('ActorType', actorKinds);
derive.enum('AuditOutcome', ['ok', 'denied']);
const AuditEntry = derive.output('AuditEntry', AuditEntryView, {
  names: { actor: 'AuditActor', target: 'AuditTarget' },
});
const AuditEntryConnection = connectionType('AuditEntry', AuditEntry);

builder.queryFields((t) => ({
  auditLog: pageField(t, 'AuditLog', {
    operation: listAuditOperation,
    type: AuditEntryConnection,
    description: 'What was done in the organization, newest first; for owners and admins.',
    options: () => ({}),
  }),
}));
