// Where no organisation can be shown: the server does not answer, or the person is in none yet.
import { lazy, Suspense, useState } from 'react';
import { Provider } from 'urql';
import { createClient } from '../api/client.ts';
import { loadSession, useSessionState } from '../api/session.ts';
import { Button } from '../ui/button.tsx';
import { Empty, ErrorBox } from '../ui/states.tsx';

const CreateOrgDialog = lazy(() => import('./create-org.tsx').then((m) => ({ default: m.CreateOrgDialog })));

/** The session could not be asked for, or the person is in no organisation. */
export function Unreachable() {
  const state = useSessionState();
  const [creating, setCreating] = useState(false);
  const [client] = useState(() => createClient(null));
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
          <Empty
            page
            title="You are in no organisation yet"
            actions={
              <Button kind="primary" onClick={() => setCreating(true)}>
                Make an organisation
              </Button>
            }
          >
            Make one, or ask an owner or admin of yours for an invitation to{' '}
            {state.kind === 'signed_in' && state.session.user.email}.
          </Empty>
        )}
      </div>
      {creating && (
        <Provider value={client}>
          <Suspense>
            <CreateOrgDialog onClose={() => setCreating(false)} />
          </Suspense>
        </Provider>
      )}
    </main>
  );
}
