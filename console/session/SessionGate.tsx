import { Center, Loader } from '@mantine/core'
import { Outlet } from 'react-router'
import { ErrorNotice } from '../components/ErrorNotice.tsx'
import { SessionContext, useSessionQuery } from './session.ts'
import { SignInPage } from './SignInPage.tsx'
import { launchId } from '../page-context.ts'
import { LaunchEnded } from '../launch/LaunchEnded.tsx'
import { Delayed } from '../components/Delayed.tsx'

/** Shows the pages below it to members who are signed in, and the sign-in page to others, at the same address. A launch signs in elsewhere. */
export function SessionGate() {
  const { data: session, error, isPending, refetch } = useSessionQuery()
  if (isPending)
    return (
      <Center h="100dvh">
        <Delayed>
          <Loader aria-label="Loading the session" />
        </Delayed>
      </Center>
    )
  if (error && !session)
    return (
      <Center h="100dvh" p="lg">
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </Center>
    )
  if (!session) return launchId ? <LaunchEnded /> : <SignInPage />
  return (
    <SessionContext value={session} key={session.session_id}>
      <Outlet />
    </SessionContext>
  )
}
