import { Link, useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { signup } from '../../api/boot.ts';
import { readSignInSearch } from '../../app/search.ts';
import { Button } from '../../ui/button.tsx';
import { OutsideCard } from '../account/frame.tsx';
import { SignInForm } from './form.tsx';
import { SsoForm } from './sso-form.tsx';

export function SignInPage() {
  const { next } = readSignInSearch(useSearch({ from: '/sign-in' }));
  const navigate = useNavigate();
  const router = useRouter();
  /** The address to begin single sign-on with; null while a password is asked for. */
  const [sso, setSso] = useState<string | null>(null);
  const onDone = () => {
    if (next === undefined) void navigate({ to: '/' });
    else router.history.push(next);
  };
  const below = (
    <>
      <Link to="/forgot-password">Forgotten password</Link>
      {/* Documents of their own: these alone may load the script of the challenge. */}
      {signup === 'open' && <a href="/register">Make an account</a>}
      {signup === 'invite' && <a href="/register">I have an invite code</a>}
      {signup !== 'open' && <a href="/request-access">Ask for access</a>}
      <a href="/models">Models and prices</a>
    </>
  );
  return (
    <OutsideCard title="Sign in" note="to see balance, calls and keys of your organisation" below={below}>
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
    </OutsideCard>
  );
}
