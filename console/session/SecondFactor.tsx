import { Button, Stack, Text, UnstyledButton } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { answerWithPasskey, passkeyObstacle, type PasskeyOptions } from './passkeys.ts'
import { SignInError } from './SignInError.tsx'
import classes from './SignInPage.module.css'

interface SecondFactorProps {
  options: PasskeyOptions
  /** Called when the member is signed in. */
  onSignedIn: () => Promise<void>
  onBack: () => void
}

/** The form that had the focus is gone. */
const focus = (button: HTMLButtonElement | null): void => button?.focus()

/** The passkey of a member who has given the password. */
export function SecondFactor({ options, onSignedIn, onBack }: SecondFactorProps) {
  const answer = useMutation({ mutationFn: () => answerWithPasskey(options), onSuccess: onSignedIn })
  const obstacle = passkeyObstacle()
  return (
    <Stack gap="md">
      <Text role="status">Your account has a passkey, which is needed after the password.</Text>
      {obstacle !== undefined && <Text size="sm">{obstacle}</Text>}
      {answer.error && <SignInError error={answer.error} />}
      <Button ref={focus} loading={answer.isPending} disabled={obstacle !== undefined} onClick={() => answer.mutate()}>
        Use the passkey
      </Button>
      <UnstyledButton className={classes.link} onClick={onBack}>
        Back to sign in
      </UnstyledButton>
    </Stack>
  )
}
