import { shortId } from '../../components/IdText.tsx'

interface ActorProps {
  member_id: string | null
  key_id: string
  /** Member → name. */
  names: ReadonlyMap<string, string>
}

/** Who did something: a member by name where it is known, or a key, a link or a command. */
export function Actor({ member_id, key_id, names }: ActorProps) {
  if (member_id === null) return <span title={key_id}>{keyText(key_id)}</span>
  const place = key_id.startsWith('session:') ? '' : `, ${keyText(key_id)}`
  return (
    <span title={`${member_id}${place && ` with ${key_id}`}`}>
      {names.get(member_id) ?? `Member ${shortId(member_id)}`}
      {place}
    </span>
  )
}

/** `cli:` and a name is a command of the operator; `token:` and `link:` are those of users. */
function keyText(key_id: string): string {
  const [, kind, name] = /^(\w+):(.*)$/.exec(key_id) ?? []
  if (kind === undefined || name === undefined) return `key ${shortId(key_id)}`
  return kind === 'cli' ? `command of ${name}` : `${kind} ${shortId(name)}`
}
