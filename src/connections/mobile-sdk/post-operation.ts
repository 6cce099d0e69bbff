// What operations have in common by which phones post.
import { PostReply, UserParams } from './schema.ts'

export const BODY_BYTES_MAX = 16 * 1024 * 1024
export const envelope = { stage: 'daily', time_zone: 'America/Phoenix', provider: 'apple_health_kit' }

export const post = {
  patients: true,
  method: 'POST',
  params: UserParams,
  body_bytes_max: BODY_BYTES_MAX,
  reply: PostReply,
  description: 'A record that is there is brought up to date; a repeated post changes nothing.',
} as const
