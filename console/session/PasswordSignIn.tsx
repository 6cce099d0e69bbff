import { Button, PasswordInput, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { api, dataOf } from '../api/client.ts'
import type { PasskeyOptions } from './passkeys.ts'
import { startSession } from './session.ts'
import { SignInError } from './SignInError.tsx'
import classes from './SignInPage.module.css'

interface PasswordSignInProps {
  /** Called with the options of a passkey, which the member needs after the password. */
  onSecondFactor: (options: PasskeyOptions) => void
}

/** Signs in with email and password, or asks for a mail to set another password. */
export function PasswordSignIn({ onSecondFactor }: PasswordSignInProps) {
  const [isForgotten, setForgotten] = useState(false)
  return isForgotten ? (
    <ResetRequest onBack={() => setForgotten(false)} />
  ) : (
    <SignInForm onForgotten={() => setForgotten(true)} onSecondFactor={onSecondFactor} />
  )
}

function SignInForm({ onForgotten, onSecondFactor }: PasswordSignInProps & { onForgotten: () => void }) {
  const signIn = useMutation({
    mutationFn: (body: { email: string; password: string }) => dataOf(api.POST('/console/api/sign-in/password', { body })),
    onSuccess: ({ options }) => (options ? onSecondFactor(options) : startSession()),
  })
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    signIn.mutate({ email: readText(form, 'email'), password: readText(form, 'password') })
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <TextInput name="email" type="email" label="Email" autoComplete="username" required withAsterisk={false} />
        <PasswordInput name="password" label="Password" autoComplete="current-password" required withAsterisk={false} />
        {signIn.error && <SignInError error={signIn.error} />}
        <Button type="submit" loading={signIn.isPending}>
          Sign in
        </Button>
        <UnstyledButton className={classes.link} onClick={onForgotten}>
          Forgotten password
        </UnstyledButton>
      </Stack>
    </form>
  )
}

function ResetRequest({ onBack }: { onBack: () => void }) {
  const request = useMutation({
    mutationFn: (email: string) => api.POST('/console/api/password-reset', { body: { email } }),
  })
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    request.mutate(readText(new FormData(event.currentTarget), 'email'))
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        {request.isSuccess ? (
          <Text role="status">If this address belongs to a member, a mail with a link to set a password is on its way.</Text>
        ) : (
          <>
            <TextInput name="email" type="email" label="Email" autoComplete="username" required withAsterisk={false} />
            {request.error && <SignInError error={request.error} />}
            <Button type="submit" loading={request.isPending}>
              Send a link
            </Button>
          </>
        )}
        <UnstyledButton className={classes.link} onClick={onBack}>
          Back to sign in
        </UnstyledButton>
      </Stack>
    </form>
  )
}

const readText = (form: FormData, name: string): string => {
  const value = form.get(name)
  return typeof value === 'string' ? value : ''
}
