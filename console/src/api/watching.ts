/** Operators' pages show everybody's things and follow no project's events: while they are seen, they look again. */
export const LOOK_AGAIN_MS = 3_000;

export const WATCHED = { refetchInterval: LOOK_AGAIN_MS, staleTime: LOOK_AGAIN_MS / 2 };
