// People, physicians and addresses that are plainly invented.
import type { Random } from './random.ts'

export interface Person {
  first: string
  middle: string
  last: string
  sex: 'male' | 'female'
  title: string
}

const FIRST = {
  western: {
    female: ['Jane', 'Alice', 'Nora', 'Mary Ann', 'Ingrid', 'Zoe'],
    male: ['John', 'Peter', 'Liam', 'Oscar', 'Jean-Luc', 'Max'],
  },
  indian: { female: ['Priya', 'Anita', 'Kavya', 'Meena', 'Shanti'], male: ['Rahul', 'Arjun', 'Vikram', 'Sanjay', 'Mohan'] },
  asian: { female: ['Mei Ling', 'Siti', 'Maria Clara', 'Hui Min'], male: ['Wei Jie', 'Ahmad', 'Jun', 'Jose'] },
  african: { female: ['Amina', 'Ngozi', 'Thandi', 'Ifeoma'], male: ['Chidi', 'Sipho', 'Tunde', 'Kofi'] },
  arab: { female: ['Layla', 'Fatima', 'Mariam'], male: ['Omar', 'Yousef', 'Khalid'] },
} satisfies Record<string, Record<Person['sex'], string[]>>

const LAST: Record<keyof typeof FIRST, string[]> = {
  western: ['Fauxman', 'Mockford', 'Testwell', "O'Fiction", 'van Mockum', 'Examplar', 'Nonesuch-Tester', 'McSample', 'Placeholt'],
  indian: ['Samplewala', 'Testkumar', 'Namunakar', 'Examplewar', 'Fictiongupta'],
  asian: ['Tan Contoh', 'Mocklim', 'dela Ficcion', 'Fauxnguyen'],
  african: ['Testowo', 'Mockele', 'Fauxkonkwo', 'Samplamini'],
  arab: ['Al Mithali', 'El Fictioni', 'Bin Sample'],
}

export type Origin = keyof typeof FIRST

export function createPerson(random: Random, origin: Origin): Person {
  const sex = random.pick(['male', 'female'] as const)
  return {
    first: random.pick(FIRST[origin][sex]),
    middle: random.chance(0.4) ? random.pick('ABCDEFGHKLMPRT'.split('')) : '',
    last: random.pick(LAST[origin]),
    sex,
    title: sex === 'male' ? 'Mr' : random.pick(['Mrs', 'Ms']),
  }
}

export const createPhysician = (random: Random, origin: Origin): Person => ({ ...createPerson(random, origin), title: 'Dr' })

const STREETS = ['Nowhere Lane', 'Invented Street', 'Example Road', 'Fictional Avenue', 'Mock Terrace']
const TOWNS = ['Sampleville', 'Testborough', 'Exampleton', 'Fauxbury', 'Mockhaven']

export const createAddress = (random: Random): string =>
  `${random.integer(1, 199)} ${random.pick(STREETS)}, ${random.pick(TOWNS)}`
