import './sign-in.css';
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { readSignInSearch } from '../../app/search.ts';
import { Button } from '../../ui/button.tsx';
import { SignInForm } from './form.tsx';
import { SsoForm } from './sso-form.tsx';

export function SignInPage() {
  const { next } = readSignInSearch(useSearch({ from: '/sign-in' }));
  const navigate = useNavigate();
  const router = useRouter();
  /** The address to begin single sign-on with; null while a password is asked for. */
  const [sso, setSso] = useState<string | null>(null);
  useEffect(() => {
    document.title = 'Sign in';
    delete document.documentElement.dataset['env'];
  }, []);
  const onDone = () => {
    if (next === undefined) void navigate({ to: '/' });
    else router.history.push(next);
  };
  return (
    <main className="outside">
      <div className="sign-in">
        <span className="sign-in-mark" aria-hidden="true">
          <img src="/favicon.svg" width="40" height="40" alt="" />
        </span>
        <h1>Sign in</h1>
        <p>to see balance, calls and keys of your organisation</p>
        <div className="card">
          {sso === null ? (
            <>
              <SignInForm onDone={onDone} onSsoRequired={setSso} />
              <Button kind="quiet" className="wide" onClick={() => setSso('')}>
                Use single sign-on
              </Button>
            </>
          ) : (
            <SsoForm email={sso} next={next ?? '/'} onBack={() => setSso(null)} />
          )}
        </div>
      </div>
    </main>
  );
}
