import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState, type FormEvent } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { api, dataOf } from '../api/client.ts'
import type { components } from '../api/schema.d.ts'
import { Delayed } from '../components/Delayed.tsx'
import { PASSWORD_LENGTH_MIN } from './password-rules.ts'
import { SecondFactor } from './SecondFactor.tsx'
import { SignInCard } from './SignInCard.tsx'
import { SignInError } from './SignInError.tsx'
import { startSession } from './session.ts'

type LinkOwner = components['schemas']['OneTimeLink']

const TITLES: Record<LinkOwner['kind'], string> = {
  setup: 'Become the first administrator',
  invitation: 'Accept the invitation',
  reset: 'Set a password',
}
const LINK = 'One-time link'

/** The page of a one-time link: a member sets a password with it, and is signed in. The token never reaches a server in an address. */
export function OneTimeLinkPage() {
  const token = useTokenOfAddress()
  const { data, error } = useQuery({
    queryKey: ['one-time-link', token],
    queryFn: ({ signal }) => dataOf(api.POST('/console/api/one-time-links/inspect', { body: { token }, signal })),
    staleTime: Infinity,
  })
  return (
    <SignInCard title={data ? (TITLES[data.kind] ?? LINK) : LINK}>
      {!data && !error && (
        <Delayed>
          <Text c="dimmed">Loading…</Text>
        </Delayed>
      )}
      {error && <SignInError error={error} />}
      {data && <PasswordForm token={token} owner={data} />}
    </SignInCard>
  )
}

/** The token behind `#token=`, which is removed from the address and its history. */
function useTokenOfAddress(): string {
  const { hash, pathname } = useLocation()
  const [token] = useState(() => new URLSearchParams(hash.slice(1)).get('token') ?? '')
  const navigate = useNavigate()
  useEffect(() => {
    if (hash) void navigate(pathname, { replace: true })
  }, [hash, navigate, pathname])
  return token
}

function PasswordForm({ token, owner }: { token: string; owner: LinkOwner }) {
  const navigate = useNavigate()
  const enter = async (): Promise<void> => {
    await startSession()
    await navigate('/', { replace: true })
  }
  const use = useMutation({
    mutationFn: (body: components['schemas']['UseOneTimeLink']) => dataOf(api.POST('/console/api/one-time-links/use', { body })),
    onSuccess: ({ status }) => (status === 'signed_in' ? enter() : undefined),
  })
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const fields = Object.fromEntries(new FormData(event.currentTarget)) as { name?: string; email?: string; password: string }
    use.mutate({ token, ...fields })
  }
  if (use.data?.options)
    return <SecondFactor options={use.data.options} onSignedIn={enter} onBack={() => void navigate('/', { replace: true })} />
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Text>{TITLES[owner.kind] ?? LINK}</Text>
        {owner.email === null ? (
          <TextInput name="email" type="email" label="Email" autoComplete="username" required withAsterisk={false} />
        ) : (
          <TextInput label="Email" value={owner.email} autoComplete="username" readOnly />
        )}
        {owner.kind !== 'reset' && (
          <TextInput name="name" label="Name" autoComplete="name" defaultValue={owner.name ?? ''} required withAsterisk={false} />
        )}
        <PasswordInput
          name="password"
          label="New password"
          description={`At least ${PASSWORD_LENGTH_MIN} characters, and not one that is easy to guess`}
          autoComplete="new-password"
          minLength={PASSWORD_LENGTH_MIN}
          required
          withAsterisk={false}
        />
        {use.error && <SignInError error={use.error} />}
        <Button type="submit" loading={use.isPending}>
          Set the password and sign in
        </Button>
      </Stack>
    </form>
  )
}
