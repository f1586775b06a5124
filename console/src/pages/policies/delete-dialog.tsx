// Deleting a policy with all its versions.
import { useNavigate } from '@tanstack/react-router';
import { DeletePolicyDocument, type PolicyRowFragment } from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { plural } from '../../ui/format/numbers.ts';
import { FormFault } from '../../ui/states.tsx';

export function DeleteDialog({ row, onClose }: { row: PolicyRowFragment; onClose: () => void }) {
  const { slug, env } = useOrg();
  const navigate = useNavigate();
  const { busy, fault, send } = useSend();
  const active = row.scopes.length > 0;
  const remove = async () => {
    const input = { name: row.name };
    const done = await send(DeletePolicyDocument, input);
    if (done !== null) void navigate({ to: '/$org/$env/policies', params: { org: slug, env } });
  };
  return (
    <Dialog
      title={`Delete ${row.name}`}
      note={
        active
          ? 'It is active. Deactivate it everywhere first.'
          : `All its versions go, ${plural(row.newestVersion, 'version')} so far. Requests that were routed by it keep its name.`
      }
      onClose={onClose}
      size={440}
    >
      <FormFault fault={fault} />
      <div className="dialog-foot">
        <Button onClick={onClose} data-autofocus>
          Cancel
        </Button>
        {!active && (
          <Button kind="danger" busy={busy} onClick={() => void remove()}>
            Delete the policy
          </Button>
        )}
      </div>
    </Dialog>
  );
}
