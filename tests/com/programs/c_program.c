/* c_program TOPIC: the facts of one topic, from C. Without a topic: their names. */

#include "c_harness.h"

static int failed;

void check(const char* name, int holds)
{
    printf(holds ? "ok %s\n" : "FAIL %s: does not hold\n", name);
    fflush(stdout);
    failed += !holds;
}

void hresult(const char* name, HRESULT found, HRESULT expected)
{
    if (found == expected)
        printf("ok %s\n", name);
    else
        printf("FAIL %s: is 0x%08X, not 0x%08X\n", name, (unsigned)found, (unsigned)expected);
    fflush(stdout);
    failed += found != expected;
}

void floats(const char* name, const float* found, const float* expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
    {
        if (found[i] != expected[i])
        {
            printf("FAIL %s: element %zu is %g, not %g\n", name, i, found[i], expected[i]);
            failed++;
            return;
        }
    }
    printf("ok %s\n", name);
}

void need(const char* what, HRESULT result)
{
    if (FAILED(result))
    {
        printf("FAIL %s: gave 0x%08X\n", what, (unsigned)result);
        exit(1);
    }
}

int failures(void)
{
    return failed;
}

int main(int argc, char** argv)
{
    static const struct
    {
        const char* name;
        void (*run)(void);
    } topics[] = {
        {"objects", objects_topic},
        {"operators", operators_topic},
        {"errors", errors_topic},
        {"removal", removal_topic},
        {"debug", debug_topic},
    };
    for (size_t i = 0; i < COUNT(topics); i++)
    {
        if (argc < 2)
        {
            printf("%s\n", topics[i].name);
        }
        else if (strcmp(argv[1], topics[i].name) == 0)
        {
            topics[i].run();
            return failures() ? 1 : 0;
        }
    }
    return argc < 2 ? 0 : 2;
}
