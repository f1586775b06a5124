// What a member of staff reads above every page of an organisation that they look at.
import { useNavigate } from '@tanstack/react-router';
import { signOut, useSessionState } from '../api/session.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { useNow } from '../ui/time.tsx';

const MINUTE_MS = 60_000;

/** Says that this is a look, that nothing can be changed, and how long it lasts. */
export function LookNote() {
  const state = useSessionState();
  const navigate = useNavigate();
  const now = useNow().getTime();
  const end = state.kind === 'signed_in' ? state.session.look_ends_at : null;
  if (end === null || end === undefined) return null;
  const left = Math.max(0, Math.ceil((Date.parse(end) - now) / MINUTE_MS));
  return (
    <div className="suspended look" role="status">
      <Icon name="eye" size={15} />
      <span className="grow">
        <b>Staff look:</b> read only, {left} min left. It stands in the audit log of this organisation.
      </span>
      <Button kind="quiet" onClick={() => void signOut().then(() => navigate({ to: '/sign-in' }))}>
        End the look
      </Button>
    </div>
  );
}
