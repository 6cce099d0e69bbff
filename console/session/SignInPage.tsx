import { Box, Button, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useLocation } from 'react-router'
import { ApiError } from '../api/api-error.ts'
import { api, dataOf } from '../api/client.ts'
import { Delayed } from '../components/Delayed.tsx'
import { ErrorNotice } from '../components/ErrorNotice.tsx'
import { basePath } from '../page-context.ts'
import { startSession } from './session.ts'
import classes from './SignInPage.module.css'

/** Signs a member in by each of the methods that the server has. The address stays, so the page that was asked for opens afterwards. */
export function SignInPage() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['sign-in'],
    queryFn: ({ signal }) => dataOf(api.GET('/console/api/sign-in', { signal })),
  })
  return (
    <main className={classes.page}>
      <title>Sign in · Drawbridge</title>
      <Box className={classes.form}>
        <Title order={1}>Drawbridge</Title>
        {isPending && (
          <Delayed>
            <Text c="dimmed">Loading…</Text>
          </Delayed>
        )}
        {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {data && (
          <Stack gap="lg">
            {data.demo && <DemoSignIn />}
            {data.methods.oidc && <OidcSignIn label={data.methods.oidc.label} />}
            <Text size="xs" c="dimmed">
              Version {data.version}
            </Text>
          </Stack>
        )}
      </Box>
    </main>
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

function OidcSignIn({ label }: { label: string }) {
  const { pathname, search } = useLocation()
  const returnTo = `${basePath}/console${pathname}${search}`
  return (
    <Button
      component="a"
      variant="default"
      href={`${basePath}/console/api/sign-in/oidc?return_to=${encodeURIComponent(returnTo)}`}
    >
      Sign in with {label}
    </Button>
  )
}

function SignInError({ error }: { error: Error }) {
  return (
    <Text role="alert" size="sm" className={classes.error}>
      {error instanceof ApiError ? error.detail : 'Signing in failed'}
    </Text>
  )
}
