// Encrypted payloads of workflows, opened for staff who read histories in Temporal's UI or on its command line
// (docs/operate/workflows.md). They are what the protocol of Temporal's codec servers sends and takes.
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { writeAudit } from '../../identity/index.ts';
import { type Context, ServiceError, type StaffRole } from '../../kernel/index.ts';
import { isSealedPayload, openPayload, type PayloadText } from '../../workflow-starts/index.ts';

/** Those who see the list of open workflows. */
const READERS: readonly StaffRole[] = ['finance', 'support'];
/** A page of a history has fewer. */
const PAYLOADS_MAX = 10_000;

const Payloads = Type.Object({
  payloads: Type.Optional(
    Type.Array(
      Type.Object({
        metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
        data: Type.Optional(Type.String()),
      }),
      { maxItems: PAYLOADS_MAX },
    ),
  ),
});

/**
 * What `body` has, opened; a payload that is not encrypted, or that no key opens, comes back as it is, so that the others can be
 * read. Each look is an entry of the audit log. @throws ServiceError permission_denied, invalid_request.
 */
export async function decodePayloads(
  context: Context,
  body: unknown,
): Promise<{ payloads: readonly PayloadText[] }> {
  const { caller, services } = context;
  if (caller.kind !== 'staff' || !caller.roles.some((role) => READERS.includes(role)))
    throw new ServiceError(
      'permission_denied',
      `This is for staff with one of the roles ${READERS.join(', ')}.`,
    );
  if (!Value.Check(Payloads, body))
    throw new ServiceError('invalid_request', 'Send {"payloads": […]} as Temporal does.', {
      param: 'payloads',
    });
  const payloads = body.payloads ?? [];
  await writeAudit(context, {
    ...{ action: 'staff.workflows.decode', org_id: null, after: { payloads: payloads.length } },
  });
  const opened = payloads.map((payload) => {
    if (!isSealedPayload(payload)) return payload;
    try {
      return openPayload(services.root_key, payload);
    } catch (error) {
      context.log.warn({ error }, 'a payload of a workflow could not be opened');
      return payload;
    }
  });
  return { payloads: opened };
}
