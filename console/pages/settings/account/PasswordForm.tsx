import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core'
import type { FormEvent } from 'react'
import { fieldMessage } from '../../../api/api-error.ts'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { PASSWORD_LENGTH_MIN } from '../../../session/password-rules.ts'
import { useSession } from '../../../session/session.ts'
import { Section } from '../Section.tsx'
import { useChangePassword } from './account-queries.ts'

/** Changes the member's password. */
export function PasswordForm() {
  const { member } = useSession()
  const change = useChangePassword()
  const passwordError = fieldMessage(change.error, 'body.password')
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = event.currentTarget
    const { current_password, password } = Object.fromEntries(new FormData(form)) as Record<string, string>
    change.mutate({ current_password: current_password!, password: password! }, { onSuccess: () => form.reset() })
  }
  return (
    <Section
      title="Password"
      description="All other sessions end when it changes. Without a password, sign out and choose Forgotten password to get a link by mail."
    >
      <form onSubmit={submit}>
        <Stack gap="md" maw={360}>
          {/* Password managers store the new password with it. */}
          <input type="text" name="username" autoComplete="username" value={member.email} readOnly hidden />
          <PasswordInput
            name="current_password"
            label="Current password"
            autoComplete="current-password"
            required
            withAsterisk={false}
          />
          <PasswordInput
            name="password"
            label="New password"
            description={`At least ${PASSWORD_LENGTH_MIN} characters, and not one that is easy to guess`}
            autoComplete="new-password"
            minLength={PASSWORD_LENGTH_MIN}
            error={passwordError}
            required
            withAsterisk={false}
          />
          {change.error && passwordError === undefined && <ErrorNotice error={change.error} />}
          <Group gap="sm">
            <Button type="submit" variant="default" loading={change.isPending}>
              Change password
            </Button>
            {change.isSuccess && (
              <Text size="sm" role="status">
                Password changed. All other sessions have ended.
              </Text>
            )}
          </Group>
        </Stack>
      </form>
    </Section>
  )
}
