import { Button, Divider, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation, useSearchParams } from 'react-router'
import { api, dataOf } from '../api/client.ts'
import { Delayed } from '../components/Delayed.tsx'
import { ErrorNotice } from '../components/ErrorNotice.tsx'
import { basePath } from '../page-context.ts'
import { passkeyObstacle, signInWithPasskey, type PasskeyOptions } from './passkeys.ts'
import { PasswordSignIn } from './PasswordSignIn.tsx'
import { SecondFactor } from './SecondFactor.tsx'
import { startSession } from './session.ts'
import { SignInCard } from './SignInCard.tsx'
import { SignInError } from './SignInError.tsx'
import classes from './SignInPage.module.css'

/** Signs a member in by each of the methods that the server has. The address stays, so the page that was asked for opens afterwards. */
export function SignInPage() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['sign-in'],
    queryFn: ({ signal }) => dataOf(api.GET('/console/api/sign-in', { signal })),
  })
  const [secondFactor, setSecondFactor] = useState<PasskeyOptions>()
  if (secondFactor)
    return (
      <SignInCard title="Sign in">
        <SecondFactor options={secondFactor} onSignedIn={startSession} onBack={() => setSecondFactor(undefined)} />
      </SignInCard>
    )
  return (
    <SignInCard title="Sign in">
      {isPending && (
        <Delayed>
          <Text c="dimmed">Loading…</Text>
        </Delayed>
      )}
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {data && (
        <Stack gap="lg">
          {data.demo && <DemoSignIn />}
          {data.demo && (data.methods.password || data.methods.oidc) && <Divider label="or" />}
          {data.methods.password && <PasswordSignIn onSecondFactor={setSecondFactor} />}
          {data.methods.passkey && <PasskeySignIn isDemo={data.demo} />}
          {data.methods.oidc && <OidcSignIn label={data.methods.oidc.label} />}
          <Text size="xs" c="dimmed">
            Version {data.version}
          </Text>
        </Stack>
      )}
    </SignInCard>
  )
}

function DemoSignIn() {
  const signIn = useMutation({
    mutationFn: () => dataOf(api.POST('/console/api/sign-in/demo')),
    onSuccess: startSession,
  })
  return (
    <Stack gap="sm">
      <Text>
        This is a demo server. Its people and results are fictional, and everyone who reaches it can sign in with one click.
      </Text>
      <Button size="md" loading={signIn.isPending} onClick={() => signIn.mutate()}>
        Open the demo
      </Button>
      {signIn.error && <SignInError error={signIn.error} />}
    </Stack>
  )
}

/** Signs in with a passkey alone. */
function PasskeySignIn({ isDemo }: { isDemo: boolean }) {
  const signIn = useMutation({ mutationFn: signInWithPasskey, onSuccess: startSession })
  const obstacle = passkeyObstacle()
  if (obstacle !== undefined)
    return isDemo ? null : (
      <Text size="xs" c="dimmed">
        {obstacle}
      </Text>
    )
  return (
    <Stack gap="sm">
      {signIn.error && <SignInError error={signIn.error} />}
      <Button variant="default" loading={signIn.isPending} onClick={() => signIn.mutate()}>
        Sign in with a passkey
      </Button>
    </Stack>
  )
}

/** Why the server sent the browser back from a sign-in elsewhere: `error` in the address. */
const OIDC_ERRORS: Partial<Record<string, string>> = {
  oidc_unavailable: 'The sign-in service cannot be reached. Try again later.',
  oidc_failed: 'The sign-in was not completed. Try again.',
  oidc_refused: 'This account is no member here. An administrator invites members.',
}

function OidcSignIn({ label }: { label: string }) {
  const { pathname } = useLocation()
  const [params] = useSearchParams()
  const error = OIDC_ERRORS[params.get('error') ?? '']
  const query = new URLSearchParams(params)
  query.delete('error')
  const returnTo = `${basePath}/console${pathname}${query.size ? `?${query}` : ''}`
  return (
    <Stack gap="sm">
      {error !== undefined && (
        <Text role="alert" size="sm" className={classes.error}>
          {error}
        </Text>
      )}
      <Button
        component="a"
        variant="default"
        href={`${basePath}/console/api/sign-in/oidc?return_to=${encodeURIComponent(returnTo)}`}
      >
        Sign in with {label}
      </Button>
    </Stack>
  )
}
