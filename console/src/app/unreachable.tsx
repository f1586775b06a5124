// Where no organisation can be shown: the server does not answer, or the person is in none yet.
import { loadSession, useSessionState } from '../api/session.ts';
import { NoOrg } from '../pages/sign-up/no-org.tsx';
import { ErrorBox } from '../ui/states.tsx';

/** The session could not be asked for, or the person is in no organisation. */
export function Unreachable() {
  const state = useSessionState();
  const again = async () => {
    await loadSession();
    location.reload();
  };
  return (
    <main className="outside">
      <div className="card">
        {state.kind === 'unreachable' ? (
          <ErrorBox fault={state.fault} onRetry={() => void again()} />
        ) : (
          state.kind === 'signed_in' && <NoOrg email={state.session.user.email} />
        )}
      </div>
    </main>
  );
}
