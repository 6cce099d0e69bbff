import { SignInCard } from '../session/SignInCard.tsx'
import { Text } from '@mantine/core'

/** A launched session has ended. Only the program that opened it can open another one. */
export const LaunchEnded = () => (
  <SignInCard title="Session ended">
    <Text role="status">This session has ended. Close this page and open it again where you came from.</Text>
  </SignInCard>
)
